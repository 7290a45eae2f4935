/**
 * The one script, of a page in progress. It fetches the page again, and reloads it when it has
 * changed or ended. While the simulator does not respond, the page stays.
 */
export const SCRIPT = `
(async () => {
  const own = document.currentScript.text
  let seen
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 700))
    const text = await fetch(location.href).then((response) => response.text()).catch(() => null)
    if (text === null) continue
    seen ??= text
    if (text !== seen || !text.includes(own)) return location.reload()
  }
})()
`
