// docker-compose.yml against the programs it starts: it parses, and every command and variable exists.
// Arguments: the folder of the built programs. No container is started.
import fs from 'node:fs'
import { execFileSync } from 'node:child_process'
import { parse } from 'yaml'
import { check, finish } from './check.mjs'

const programs = process.argv[2]
const text = fs.readFileSync(new URL('../../docker-compose.yml', import.meta.url), 'utf8')
const compose = parse(text, { merge: true, strict: true })

// The API may only read: it has an account of its own, which is granted nothing else.
const { api } = compose.services
const granted = [...compose.configs.api.content.matchAll(/<query>(.*)<\/query>/g)].map(([, query]) => query)
check('user of the API', api.environment.TRAWL_CLICKHOUSE_USER, 'api')
check('its password', api.environment.TRAWL_CLICKHOUSE_PASSWORD.startsWith('${TRAWL_API_PASSWORD:'), true)
check('its grants', granted.length > 0 && granted.every((query) => query.startsWith('GRANT SELECT ON ')), true)

check('services', Object.keys(compose.services), ['clickhouse', 'migrate', 'ingest', 'api'])
for (const [name, service] of Object.entries(compose.services)) {
  for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
    const needed = compose.services[other]
    check(`${name} waits for ${other}`, needed !== undefined, true)
    if (condition === 'service_healthy') check(`${other} has a health check`, needed.healthcheck !== undefined, true)
    if (condition === 'service_completed_successfully') check(`${other} ends`, needed.restart !== 'always', true)
  }
  for (const volume of service.volumes ?? []) check(`volume of ${name}`, volume.split(':')[0] in compose.volumes, true)
  if (name === 'clickhouse') continue
  const [program, ...given] = service.command
  const subcommand = given.filter((word) => !word.startsWith('-')).slice(0, program === 'trawl-ingest' ? 1 : 0)
  const help = execFileSync(`${programs}/${program}`, [...subcommand, '--help'], { encoding: 'utf8' })
  for (const flag of given.filter((word) => word.startsWith('--'))) check(`${name}: ${flag}`, help.includes(flag), true)
  for (const variable of Object.keys(service.environment)) {
    check(`${name}: ${variable}`, new RegExp(`\\[env:\\s+${variable}[=\\]]`).test(help), true)
  }
}
finish()
