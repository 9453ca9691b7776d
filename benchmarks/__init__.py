"""Costs of the project: figures beside their budgets, measured on this machine. Nothing here passes or fails."""
