// viem over a WebSocket: watches blocks and events while the node moves on. Usage: watch_viem.mjs API_URL NODE_URL CHAIN.ndjson.gz
import { createPublicClient, webSocket } from 'viem'
import { check, lines, finish, moveOn, until } from './check.mjs'

const [url, node, dump] = process.argv.slice(2)
const chain = lines(dump)
const client = createPublicClient({ transport: webSocket(`${url.replace('http', 'ws')}/api/eth-rpc`) })

check('block number', await client.getBlockNumber({ cacheTime: 0 }), 40n)
const blocks = []
const numbers = []
const watchedLogs = []
const contractLogs = []
// The emitter of one of the logs to come.
const sample = chain.slice(41, 45).flatMap((line) => line.receipts.flatMap((receipt) => receipt.logs)).at(-1)
const failures = []
const stop = [
  client.watchBlocks({ onBlock: (block) => blocks.push(block), onError: (error) => failures.push(error.message) }),
  client.watchBlockNumber({ onBlockNumber: (number) => numbers.push(number), onError: (error) => failures.push(error.message) }),
  client.watchEvent({ address: sample.address, onLogs: (logs) => contractLogs.push(...logs), onError: (error) => failures.push(error.message) }),
  client.watchEvent({ onLogs: (logs) => watchedLogs.push(...logs), onError: (error) => failures.push(error.message) }),
]
await new Promise((resolve) => setTimeout(resolve, 500))
for (const head of [41, 42, 43, 44]) {
  await moveOn(node, head)
  await until(() => numbers.includes(BigInt(head)))
}
const expected = chain.slice(41, 45)
const logs = expected.flatMap((line) => line.receipts.flatMap((receipt) => receipt.logs))
await until(() => blocks.length >= 4 && watchedLogs.length >= logs.length)
check('watched blocks', blocks.map((block) => block.hash), expected.map((line) => line.block.hash))
check('watched numbers', numbers, [41n, 42n, 43n, 44n])
check('watched logs', watchedLogs.map((log) => [log.blockHash, log.logIndex, log.data, log.removed]), logs.map((log) => [log.blockHash, Number(log.logIndex), log.data, false]))
const expectedContractLogs = logs.filter((log) => log.address === sample.address)
await until(() => contractLogs.length >= expectedContractLogs.length)
check('watched logs of one contract', contractLogs.map((log) => [log.blockHash, log.logIndex]), expectedContractLogs.map((log) => [log.blockHash, Number(log.logIndex)]))
check('failures', failures, [])
check('gas price', (await client.getGasPrice()) > 0n, true)
check('fee history', (await client.getFeeHistory({ blockCount: 3, rewardPercentiles: [25, 75] })).reward.length, 3)
check('estimated fees', Object.keys(await client.estimateFeesPerGas()).sort(), ['maxFeePerGas', 'maxPriorityFeePerGas'])
check('transactions in a block', await client.getBlockTransactionCount({ blockNumber: 41n }), expected[0].block.transactions.length)
stop.forEach((end) => end())
finish()
