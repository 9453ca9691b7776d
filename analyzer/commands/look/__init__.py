"""Commands that users type first: what is in this file, and is it complete?"""
