// What the client programs share: the recorded chain, and checks that name what differs.
import fs from 'node:fs'
import zlib from 'node:zlib'
import { isDeepStrictEqual, inspect } from 'node:util'

let passed = 0
const failures = []

export function check(name, found, expected) {
  if (isDeepStrictEqual(found, expected)) {
    passed += 1
    return
  }
  failures.push(`${name}: ${inspect(found, { maxArrayLength: 6, breakLength: 200 })} instead of ${inspect(expected, { maxArrayLength: 6, breakLength: 200 })}`)
}

export function lines(dump) {
  return zlib.gunzipSync(fs.readFileSync(dump)).toString().trim().split('\n').map((line) => JSON.parse(line))
}

export function finish() {
  for (const failure of failures) console.error(failure)
  console.log(`${passed} checks passed, ${failures.length} failed`)
  process.exit(failures.length ? 1 : 0)
}

// The replay node's head, as seen by whoever follows it.
export async function moveOn(node, head) {
  await fetch(`${node}/control`, { method: 'POST', body: JSON.stringify({ head }) })
}

// Waits until something holds; the checks that follow say what if it does not.
export async function until(holds) {
  for (let waited = 0; waited < 30_000 && !holds(); waited += 20) await new Promise((resolve) => setTimeout(resolve, 20))
}
