"""The measures of scripts/measure: `tree` reads files, `rust` and `typescript` find their parts, `measures` counts."""
