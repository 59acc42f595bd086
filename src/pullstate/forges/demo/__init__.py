"""A forge without a network."""

from pullstate.forges.demo.forge import DemoForge
from pullstate.forges.demo.story import DEMO_SECONDS, REPOSITORY, Story
from pullstate.forges.demo.world import Project, World

__all__ = ["DEMO_SECONDS", "REPOSITORY", "DemoForge", "Project", "Story", "World"]
