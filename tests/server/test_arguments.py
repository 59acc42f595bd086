"""What clients send, and what a tool gets; or one sentence that says what to send instead."""

from __future__ import annotations

import json
import math
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, model_validator

from pullstate.server.arguments import Arguments, CamelArguments, Reader
from pullstate.server.errors import ArgumentError
from pullstate.server.schemas import input_schema
from pullstate.server.values import Takes


class Page(CamelArguments):
    limit: Annotated[int, Field(ge=0, description="Rows, 0 or more.")] = 0
    page_token: Annotated[str, Field(max_length=10)] = ""


class ListThings(CamelArguments):
    repository_url: Annotated[str, Field(max_length=30, description="As a remote spells it.")]
    page: Annotated[Page, Field(description="Which page.")] = Page()
    max_age_seconds: Annotated[int | None, Field(ge=0, le=100)] = None
    detail: Literal["none", "stats"] = "stats"
    include: Annotated[str, Takes.LIST] = ""
    project: Annotated[str, Takes.NUMBER] = ""
    pairs: Annotated[list[Page], Field(max_length=2, default_factory=list)]
    names: Annotated[list[str], Field(default_factory=list)]
    patience: Annotated[float | None, Field(ge=0.5, le=50)] = None
    code: Annotated[str | None, Field(pattern="^[a-z]+$", min_length=2)] = None


class GetThing(Arguments):
    pull_number: Annotated[int, Field(ge=1, description="Its number.")]
    is_resolved: bool | None = None
    url: str = ""

    @model_validator(mode="after")
    def _one_of_two(self) -> GetThing:
        if self.url and self.is_resolved:
            raise ValueError("url and is_resolved exclude each other; send one of them.")
        return self


def read(model: type[Arguments], **given: Any) -> dict[str, Any]:
    """What the tool gets of what was sent."""
    reader = Reader("list_things", model, input_schema(model))
    return reader.read(given).model_dump(exclude_unset=True)


def things(**given: Any) -> dict[str, Any]:
    return read(ListThings, **{"repositoryUrl": "x", **given})


def refusal(model: type[Arguments] = ListThings, /, **given: Any) -> str:
    with pytest.raises(ArgumentError) as refused:
        read(model, **given)
    return str(refused.value)


# --- What is taken -------------------------------------------------------------------------------


def test_arguments_as_advertised_are_taken() -> None:
    assert things(page={"limit": 3, "pageToken": "t"}, maxAgeSeconds=5, detail="none") == {
        "repository_url": "x",
        "page": {"limit": 3, "page_token": "t"},
        "max_age_seconds": 5,
        "detail": "none",
    }


def test_the_other_spelling_is_taken_at_every_depth() -> None:
    assert read(ListThings, repository_url="x", page={"page_token": "t"}, max_age_seconds=1) == {
        "repository_url": "x",
        "page": {"page_token": "t"},
        "max_age_seconds": 1,
    }
    assert read(GetThing, pullNumber=1, isResolved=False) == {
        "pull_number": 1,
        "is_resolved": False,
    }


@pytest.mark.parametrize("given", [20, "20", " 20 ", 20.0, "20.0", "20.", "+20", "020"])
def test_an_integer_is_taken_however_it_is_written(given: object) -> None:
    assert things(page={"limit": given})["page"]["limit"] == 20


@pytest.mark.parametrize("given", [True, "true", "True", " TRUE "])
def test_a_boolean_is_taken_as_text(given: object) -> None:
    assert read(GetThing, pull_number=1, is_resolved=given)["is_resolved"] is True
    falsehood = not given if isinstance(given, bool) else "false"
    assert read(GetThing, pull_number=1, is_resolved=falsehood)["is_resolved"] is False


@pytest.mark.parametrize("given", [2.5, "2.5", 2, "2"])
def test_a_number_is_taken_however_it_is_written(given: object) -> None:
    assert things(patience=given)["patience"] == float(given)  # type: ignore[arg-type]


@pytest.mark.parametrize("nothing", [None, ""])
def test_null_and_the_empty_text_say_not_given(nothing: object) -> None:
    optional = dict.fromkeys(
        ["page", "maxAgeSeconds", "detail", "include", "project", "pairs", "names", "patience"],
        nothing,
    )
    assert things(**optional) == {"repository_url": "x"}
    assert things(page={"limit": nothing, "pageToken": nothing}) == {
        "repository_url": "x",
        "page": {},
    }


def test_an_object_is_taken_as_json_text() -> None:
    assert things(page=' {"limit": "7", "page_token": null}')["page"] == {"limit": 7}


@pytest.mark.parametrize("given", [["a", "b"], '["a", "b"]', "a,b", "a, b"])
def test_an_array_of_texts_is_taken_as_json_and_with_commas(given: object) -> None:
    assert things(names=given)["names"] == ["a", "b"]


@pytest.mark.parametrize("given", ["a,b", ["a", "b"], '["a","b"]'])
def test_a_text_that_takes_a_list_gets_commas(given: object) -> None:
    assert things(include=given)["include"] == "a,b"


def test_an_empty_list_is_as_good_as_nothing() -> None:
    assert "include" not in things(include=[])


@pytest.mark.parametrize("given", ["42", 42, 42.0])
def test_a_text_that_takes_a_number_gets_its_digits(given: object) -> None:
    assert things(project=given)["project"] == "42"


def test_a_text_that_takes_a_number_is_otherwise_left_alone() -> None:
    assert things(project="007")["project"] == "007"
    assert things(project="group/20.0")["project"] == "group/20.0"


def test_objects_in_an_array_are_read_like_any_other() -> None:
    pairs = things(pairs='[{"limit": "1"}, {"page_token": "t"}]')["pairs"]
    assert pairs == [{"limit": 1}, {"page_token": "t"}]


def test_two_spellings_with_one_value_are_one_argument() -> None:
    assert things(maxAgeSeconds=5, max_age_seconds="5")["max_age_seconds"] == 5
    assert things(maxAgeSeconds=None, max_age_seconds=5)["max_age_seconds"] == 5
    assert things(maxAgeSeconds=0, max_age_seconds="")["max_age_seconds"] == 0


# --- What is refused, each in one sentence -------------------------------------------------------

URL = {"repositoryUrl": "x"}


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({}, "repositoryUrl is missing; send text of at most 30 characters "
             "(As a remote spells it)."),
        ({"repositoryUrl": None}, "repositoryUrl is missing; send text of at most 30 characters "
                                  "(As a remote spells it)."),
        ({"repositoryUrl": 5}, "repositoryUrl: 5 is not text; send text of at most 30 characters."),
        ({"repositoryUrl": ["x"]}, "repositoryUrl: an array is not text; send text of at most 30 "
                                   "characters."),
        ({"repositoryUrl": "x" * 31}, "repositoryUrl: 31 characters are too many; send text of at "
                                      "most 30 characters."),
        ({"repositoryUrl": "a\0b"}, "repositoryUrl: it holds a NUL character; send text of at most "
                                    "30 characters."),
        ({"repositoryUrl": "a\ud83d"}, "repositoryUrl: it holds half of a surrogate pair; send "
                                       "text of at most 30 characters."),
        ({**URL, "page": {"limit": -1}}, "page.limit: -1 is too small; send an integer, 0 or more, "
                                         "or leave it out."),
        ({**URL, "page": {"limit": 20.5}}, "page.limit: 20.5 is not an integer; send an integer, "
                                           "0 or more, or leave it out."),
        ({**URL, "page": {"limit": "many"}}, 'page.limit: "many" is not an integer; send an '
                                             "integer, 0 or more, or leave it out."),
        ({**URL, "page": {"limit": True}}, "page.limit: true is not an integer; send an integer, "
                                           "0 or more, or leave it out."),
        ({**URL, "page": {"limit": math.nan}}, "page.limit: NaN is not an integer; send an "
                                               "integer, 0 or more, or leave it out."),
        ({**URL, "page": {"limit": math.inf}}, "page.limit: Infinity is not an integer; send an "
                                               "integer, 0 or more, or leave it out."),
        ({**URL, "page": {"limit": 10**30}}, "page.limit: that number is too large; send an "
                                             "integer, 0 or more, or leave it out."),
        ({**URL, "page": {"limit": 10**5000}}, "page.limit: that number is too large; send an "
                                               "integer, 0 or more, or leave it out."),
        ({**URL, "page": {"limit": "9" * 300}}, "page.limit: that number is too large; send an "
                                                "integer, 0 or more, or leave it out."),
        ({**URL, "page": {"limit": 1e300}}, "page.limit: that number is too large; send an "
                                            "integer, 0 or more, or leave it out."),
        ({**URL, "page": {"limit": {}}}, "page.limit: an object is not an integer; send an "
                                         "integer, 0 or more, or leave it out."),
        ({**URL, "max_age_seconds": 101}, "maxAgeSeconds: 101 is too large; send an integer from 0 "
                                          "to 100, or leave it out."),
        ({**URL, "patience": "long"}, 'patience: "long" is not a number; send a number from 0.5 to '
                                      "50, or leave it out."),
        ({**URL, "patience": math.nan}, "patience: NaN is not a number; send a number from 0.5 to "
                                        "50, or leave it out."),
        ({**URL, "patience": math.inf}, "patience: Infinity is too large; send a number from 0.5 "
                                        "to 50, or leave it out."),
        ({**URL, "page": 5}, "page: 5 is not an object; send an object with limit, pageToken, or "
                             "leave it out."),
        ({**URL, "page": "second"}, 'page: "second" is not an object; send an object with limit, '
                                    "pageToken, or leave it out."),
        ({**URL, "page": "{limit: 5}"}, "page: the text is not JSON; send an object with limit, "
                                        "pageToken, or leave it out."),
        ({**URL, "page": [1]}, "page: an array is not an object; send an object with limit, "
                               "pageToken, or leave it out."),
        ({**URL, "detail": "all"}, 'detail: "all" is not one of its values; send one of none, '
                                   "stats, or leave it out."),
        ({**URL, "detail": 1}, "detail: 1 is not text; send one of none, stats, or leave it out."),
        ({**URL, "code": "A1"}, 'code: "A1" does not have its form; send text, or leave it out.'),
        ({**URL, "code": "a"}, "code: 1 characters are too few; send text, or leave it out."),
        ({**URL, "include": ["a", 1]}, "include: the array holds something other than text; send "
                                       "text, or leave it out."),
        ({**URL, "include": 5}, "include: 5 is not text; send text, or leave it out."),
        ({**URL, "project": 1.5}, "project: 1.5 is not an integer; send text, or leave it out."),
        ({**URL, "project": True}, "project: true is not an integer; send text, or leave it out."),
        ({**URL, "names": [1]}, "names[0]: 1 is not text; send text."),
        ({**URL, "names": 5}, "names: 5 is not an array; send an array, each item text, or leave "
                              "it out."),
        ({**URL, "pairs": [{}, {}, {}]}, "pairs: 3 items are too many; send an array of at most 2 "
                                         "items, each item an object with limit, pageToken, or "
                                         "leave it out."),
        ({**URL, "pairs": [{"limit": "x"}]}, 'pairs[0].limit: "x" is not an integer; send an '
                                             "integer, 0 or more, or leave it out."),
        ({**URL, "repository_url": "y"}, "repositoryUrl: repositoryUrl and repository_url are one "
                                         "argument in two spellings and have different values; "
                                         "send only repositoryUrl."),
        ({**URL, "page": {"pageToken": "a", "page_token": "b"}},
         "page.pageToken: pageToken and page_token are one argument in two spellings and have "
         "different values; send only page.pageToken."),
    ],
    ids=lambda value: value[:60] if isinstance(value, str) else "",
)  # fmt: skip
def test_what_does_not_fit_gets_one_sentence(given: dict[str, Any], sentence: str) -> None:
    assert refusal(**given) == sentence


def test_a_boolean_that_is_neither_gets_one_sentence() -> None:
    for wrong, shown in [("yes", '"yes"'), (1, "1"), ([], "an array")]:
        assert refusal(GetThing, pull_number=1, is_resolved=wrong) == (
            f"is_resolved: {shown} is neither true nor false; send true or false, or leave it out."
        )


KNOWN = (
    "repositoryUrl, page (limit, pageToken), maxAgeSeconds, detail, include, project, "
    "pairs (limit, pageToken), names, patience, code"
)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("repositryUrl", " (did you mean repositoryUrl?)"),
        ("repo_url", " (did you mean repositoryUrl?)"),
        ("RepositoryURL", " (did you mean repositoryUrl?)"),
        ("max-age-seconds", " (did you mean maxAgeSeconds?)"),
        ("limit", " (did you mean page.limit?)"),
        ("page_tokn", " (did you mean page.pageToken?)"),
        ("zzz", ""),
    ],
)
def test_an_unknown_argument_lists_the_known_ones_and_the_nearest(name: str, hint: str) -> None:
    assert refusal(**{"repositoryUrl": "x", name: 1}) == (
        f'"{name}"{hint} is no argument of list_things; send only: {KNOWN}.'
    )


def test_an_unknown_argument_is_refused_even_when_it_says_nothing() -> None:
    assert '"zzz" is no argument' in refusal(**URL, zzz=None)


def test_an_unknown_argument_inside_an_object_is_told_apart() -> None:
    assert refusal(**URL, page={"limt": 3}) == (
        '"limt" (did you mean page.limit?) is no argument of page; send only: limit, pageToken.'
    )


def test_many_unknown_arguments_are_one_short_sentence() -> None:
    text = refusal(**URL, **{f"zz{n}": n for n in range(1_000)})
    assert text.startswith('"zz0", "zz1", "zz2" and 997 more are no arguments of list_things; ')
    assert len(text) < 300


def test_several_that_do_not_fit_get_a_sentence_each() -> None:
    text = refusal(page={"limit": -1}, detail="x", patience="x")
    assert text.count("; send ") == 4
    assert text.index("repositoryUrl is missing") < text.index("page.limit") < text.index("detail")


def test_no_more_than_five_sentences_are_said() -> None:
    wrong = dict.fromkeys(["page", "maxAgeSeconds", "detail", "project", "names", "patience"], True)
    text = refusal(**wrong)
    assert text.count("; send ") == 5
    assert text.endswith(" 2 more do not fit.")


def test_a_tools_own_rule_speaks_in_its_own_words() -> None:
    assert refusal(GetThing, pull_number=1, url="x", is_resolved=True) == (
        "url and is_resolved exclude each other; send one of them."
    )


def test_a_callers_text_is_quoted_clean_and_short() -> None:
    text = refusal(**URL, detail="\u202e" + "y\n" * 500)
    quoted = text.partition('"')[2].partition('"')[0]
    assert len(quoted) <= 80
    assert "\n" not in text
    assert "\u202e" not in text


def test_a_credential_in_a_wrong_argument_is_not_echoed() -> None:
    wrong = "https://oauth2:glpat-s3cr3t-s3cr3t@gitlab.com/a/b"
    assert "s3cr3t" not in refusal(**URL, detail=wrong)
    assert "s3cr3t" not in refusal(repositoryUrl=wrong)
    assert "s3cr3t" not in refusal(**URL, **{wrong: 1})


# --- Whatever is sent ----------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=12,
)
NAMES = st.sampled_from(
    [
        *input_schema(ListThings)["properties"],
        *("repository_url", "max_age_seconds", "limit", "odd"),
    ]
)
PAGES = st.dictionaries(st.sampled_from(["limit", "pageToken", "page_token", "x"]), JSON)


@given(st.dictionaries(NAMES, JSON | PAGES | PAGES.map(json.dumps) | st.lists(PAGES, max_size=3)))
def test_whatever_is_sent_is_taken_or_refused_in_words(given: dict[str, Any]) -> None:
    reader = Reader("list_things", ListThings, input_schema(ListThings))
    try:
        assert isinstance(reader.read(given), ListThings)
    except ArgumentError as refused:
        assert "; send" in str(refused)
        assert len(str(refused)) < 3_000
        str(refused).encode("utf-8")
