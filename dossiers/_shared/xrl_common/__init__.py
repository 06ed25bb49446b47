"""Shared by all dossiers: the subject of a tool, rollouts, Monte-Carlo Q, state selection, tables, JSON.

No module here names an environment. The workspace's own copy of `evalxrl_envs` is read by `workspace` alone.
"""
