"""The fold service: entries in order in; table, reports, questions, transcript and statements out."""
