// docker-compose.yml against the programs it starts: it parses, every command and variable exists, services are limited and have no more
// rights than they need, and what another start does not cure is not started again. Where Compose is at hand it reads the file too.
// Arguments: the folder of the built programs. No container is started.
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { once } from 'node:events'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { check, finish } from './check.mjs'

const programs = process.argv[2]
const text = fs.readFileSync(new URL('../../docker-compose.yml', import.meta.url), 'utf8')
const compose = parse(text, { merge: true, strict: true })

// The API may only read: it has an account of its own, which is granted nothing else, and does not see the owner's password.
const { api } = compose.services
const grants = [...compose.configs.api.content.matchAll(/<query>(.*)<\/query>/g)].map(([, query]) => query)
check('user of the API', api.environment.TRAWL_CLICKHOUSE_USER, 'api')
check('its secrets', api.secrets, ['api-password'])
check('its grants', grants.length > 0 && grants.every((query) => query.startsWith('GRANT SELECT ON ')), true)
check('passwords in variables', /PASSWORD: \S/.test(text), false)

const services = ['clickhouse', 'engine', 'migrate', 'ingest', 'api', 'prometheus', 'grafana']
const foreign = ['clickhouse', 'prometheus', 'grafana']
check('services', Object.keys(compose.services), services)
for (const [name, service] of Object.entries(compose.services)) {
  check(`${name} has no capabilities`, service.cap_drop, ['ALL'])
  check(`${name} gets no privileges`, service.security_opt, ['no-new-privileges:true'])
  check(`${name} has limits`, [typeof service.mem_limit, service.logging?.options['max-size']], ['string', '10m'])
  check(`${name} is read-only`, service.read_only === true || name === 'clickhouse', true)
  for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
    const dependency = compose.services[other]
    check(`${name} waits for ${other}`, dependency !== undefined, true)
    if (condition === 'service_healthy') check(`${other} has a health check`, dependency.healthcheck !== undefined, true)
    if (condition === 'service_completed_successfully') check(`${other} ends`, dependency.restart.startsWith('on-failure'), true)
  }
  for (const volume of service.volumes ?? []) {
    const [from] = volume.split(':')
    const isThere = from.startsWith('.') ? fs.existsSync(new URL(`../../${from}`, import.meta.url)) : from in compose.volumes
    check(`volume ${from} of ${name}`, isThere, true)
  }
  for (const { source } of service.configs ?? []) {
    const { file } = compose.configs[source] ?? {}
    check(`config ${source} of ${name}`, file === undefined || fs.existsSync(new URL(`../../${file}`, import.meta.url)), true)
    // Compose writes contents into a container, which a read-only file system does not permit.
    check(`config ${source} of ${name} can be mounted`, !service.read_only || file !== undefined, true)
  }
  for (const secret of service.secrets ?? []) check(`secret ${secret} of ${name}`, secret in compose.secrets, true)
  if (foreign.includes(name)) continue
  check(`user of ${name}`, service.user, '10001:10001')
  const usesHold = service.command[0] === 'sh'
  check(`${name} is held or ends`, usesHold && service.command[1] === '/hold' && service.configs[0].source === 'hold', name !== 'migrate')
  const [program, ...args] = usesHold ? service.command.slice(2) : service.command
  const subcommand = args.filter((word) => !word.startsWith('-')).slice(0, program === 'trawl-ingest' ? 1 : 0)
  const help = execFileSync(`${programs}/${program}`, [...subcommand, '--help'], { encoding: 'utf8' })
  for (const flag of args.filter((word) => word.startsWith('--'))) check(`${name}: ${flag}`, help.includes(flag), true)
  for (const variable of Object.keys(service.environment)) {
    check(`${name}: ${variable}`, new RegExp(`\\[env:\\s+${variable}[=\\]]`).test(help), true)
  }
}

// What `hold` makes of exit codes and signals.
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'compose-'))
const hold = fileURLToPath(new URL(`../../${compose.configs.hold.file}`, import.meta.url))
const exitCode = async (script, { signal }) => {
  const child = spawn('sh', [hold, 'sh', '-c', script], { stdio: ['ignore', 'pipe', 'pipe'] })
  if (signal) {
    await once(script.includes('ready') ? child.stdout : child.stderr, 'data')
    await new Promise((resolve) => setTimeout(resolve, 300))
    if (child.exitCode !== null) return `ended with ${child.exitCode} before`
    child.kill(signal)
  }
  return (await once(child, 'exit'))[0]
}
check('hold: an end', await exitCode('exit 0', {}), 0)
check('hold: a failure', await exitCode('exit 5', {}), 5)
for (const code of [2, 3, 6, 7, 8]) check(`hold: ${code} waits for a person`, await exitCode(`exit ${code}`, { signal: 'SIGTERM' }), code)
const orderly = 'trap "exit 130" TERM; echo ready; while :; do sleep 0.1; done'
check('hold: SIGTERM is passed on', await exitCode(orderly, { signal: 'SIGTERM' }), 130)

// Compose itself, with the example's variables.
for (const name of Object.keys(compose.secrets)) fs.writeFileSync(path.join(folder, name), 'secret\n')
const root = fileURLToPath(new URL('../..', import.meta.url))
const composeServices = (profiles) => {
  const variables = { ...process.env, SECRETS: folder, COMPOSE_PROFILES: profiles }
  const options = { cwd: root, env: variables, encoding: 'utf8' }
  const [program, ...first] = candidates.find(isNew)
  return spawnSync(program, [...first, '--env-file', '.env.example', '-f', 'docker-compose.yml', 'config', '--services'], options)
}
const candidates = [[process.env.TRAWL_TEST_COMPOSE ?? 'docker-compose'], ['docker', 'compose']]
const isNew = ([program, ...first]) => {
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(spawnSync(program, [...first, 'version', '--short'], { encoding: 'utf8' }).stdout ?? '') ?? []
  return Number(major) > 2 || (Number(major) === 2 && Number(minor) >= 23)
}
const common = ['api', 'ingest', 'migrate']
const profiles = { server: ['clickhouse'], embedded: ['engine'], 'embedded,watch': ['engine', 'grafana', 'prometheus'] }
if (!candidates.some(isNew)) console.log('no Docker Compose 2.23 here, so it has not read the file')
else for (const [profile, own] of Object.entries(profiles)) {
  const { status, stdout, stderr } = composeServices(profile)
  check(`Compose reads ${profile}`, [status, status === 0 ? '' : stderr], [0, ''])
  check(`services of ${profile}`, stdout.trim().split('\n').sort(), [...common, ...own].sort())
}
fs.rmSync(folder, { recursive: true })
finish()
