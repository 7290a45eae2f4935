// Loaded before tap, which follows every promise of a process, to know which test an error belongs to that nothing
// awaits: a fifth of the processor's time. Here such an error ends the process, which fails it.
import asyncHooks from 'node:async_hooks'
import { syncBuiltinESMExports } from 'node:module'

asyncHooks.createHook = () => ({ enable () {}, disable () {} })
syncBuiltinESMExports()
