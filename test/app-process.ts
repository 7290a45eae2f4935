// The partner's app in a process of its own, started with options of the plugin as JSON. It prints its URL.
import { startApp } from './app.ts'

const { url } = await startApp({ teardown () {} }, { options: JSON.parse(process.argv[2] as string) })
console.log(url)
