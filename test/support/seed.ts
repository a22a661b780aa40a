import { configureGlobal } from 'fast-check'

// Loaded before every test file where a change is judged (CI is set): the same change then meets the
// same made-up cases. Everywhere else each run makes up new ones; TEST_SEED repeats one anywhere.
configureGlobal({ seed: Number(process.env['TEST_SEED'] ?? 1) })
