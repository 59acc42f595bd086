"""A forge without a network."""

from pullstate.forges.demo.forge import DemoForge
from pullstate.forges.demo.story import Story
from pullstate.forges.demo.world import Project, World

__all__ = ["DemoForge", "Project", "Story", "World"]
