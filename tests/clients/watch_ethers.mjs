// ethers over a WebSocket: watches blocks and logs while the node moves on. Usage: watch_ethers.mjs API_URL NODE_URL CHAIN.ndjson.gz
import { WebSocketProvider } from 'ethers'
import { check, lines, finish, moveOn, until } from './check.mjs'

const [url, node, dump] = process.argv.slice(2)
const chain = lines(dump)
const provider = new WebSocketProvider(`${url.replace('http', 'ws')}/api/eth-rpc`)

check('network', (await provider.getNetwork()).chainId, 3503995874084926n)
const numbers = []
const watchedLogs = []
const contractLogs = []
// Emitter and first topic of one of the logs to come.
const sample = chain.slice(41, 45).flatMap((line) => line.receipts.flatMap((receipt) => receipt.logs)).at(-1)
await provider.on('block', (number) => numbers.push(number))
await provider.on({ topics: [] }, (log) => watchedLogs.push(log))
await provider.on({ address: sample.address, topics: [sample.topics[0] ?? null] }, (log) => contractLogs.push(log))
await new Promise((resolve) => setTimeout(resolve, 500))
for (const head of [41, 42, 43, 44]) {
  await moveOn(node, head)
  await until(() => numbers.includes(head))
}
const expected = chain.slice(41, 45)
const logs = expected.flatMap((line) => line.receipts.flatMap((receipt) => receipt.logs))
await until(() => watchedLogs.length >= logs.length)
check('watched blocks', numbers, [41, 42, 43, 44])
check('watched logs', watchedLogs.map((log) => [log.blockHash, log.index, log.data]), logs.map((log) => [log.blockHash, Number(log.logIndex), log.data]))
const expectedContractLogs = logs.filter((log) => log.address === sample.address && (sample.topics.length === 0 || log.topics[0] === sample.topics[0]))
await until(() => contractLogs.length >= expectedContractLogs.length)
check('watched logs of one contract and topic', contractLogs.map((log) => [log.blockHash, log.index]), expectedContractLogs.map((log) => [log.blockHash, Number(log.logIndex)]))
const fees = await provider.getFeeData()
check('fees', [fees.gasPrice > 0n, fees.maxPriorityFeePerGas !== null], [true, true])
check('receipts of a transaction', (await provider.getTransactionReceipt(expected[0].receipts[0].transactionHash)).blockNumber, 41)
await provider.destroy()
finish()
