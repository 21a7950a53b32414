// Shared by the client programs: the recorded chain, and checks that report differences.
import fs from 'node:fs'
import zlib from 'node:zlib'
import { isDeepStrictEqual, inspect } from 'node:util'

let passed = 0
const failures = []

export function check(name, actual, expected) {
  if (isDeepStrictEqual(actual, expected)) {
    passed += 1
    return
  }
  failures.push(`${name}: ${inspect(actual, { maxArrayLength: 6, breakLength: 200 })} instead of ${inspect(expected, { maxArrayLength: 6, breakLength: 200 })}`)
}

export function lines(dump) {
  return zlib.gunzipSync(fs.readFileSync(dump)).toString().trim().split('\n').map((line) => JSON.parse(line))
}

export function finish() {
  for (const failure of failures) console.error(failure)
  console.log(`${passed} checks passed, ${failures.length} failed`)
  process.exit(failures.length ? 1 : 0)
}

// Moves the head of the replay node.
export async function moveOn(node, head) {
  await fetch(`${node}/control`, { method: 'POST', body: JSON.stringify({ head }) })
}

// Waits until a condition holds; the checks that follow report what does not.
export async function until(holds) {
  for (let elapsed = 0; elapsed < 30_000 && !holds(); elapsed += 20) await new Promise((resolve) => setTimeout(resolve, 20))
}
