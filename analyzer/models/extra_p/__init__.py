"""Reading of Extra-P's files of measurements as a table: its text form, JSON, JSON lines, and Talpas.

Source: the readers of Extra-P 4.2 (text, json, jsonlines, talpas).
"""
