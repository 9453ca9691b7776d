"""Measurements in the files of Extra-P: its text form, JSON, JSON lines, and Talpas, as a table for a fit.

Source: the readers of Extra-P 4.2 (text, json, jsonlines, talpas).
"""
