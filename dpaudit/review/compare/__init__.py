"""What changed between two audits?"""
