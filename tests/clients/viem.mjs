// viem against /api/eth-rpc: what a dapp does on connect and with logs. Usage: viem.mjs API_URL CHAIN.ndjson.gz
import { createPublicClient, http, parseAbiItem, getAddress } from 'viem'
import { check, lines, finish } from './check.mjs'

const [url, dump] = process.argv.slice(2)
const chain = lines(dump)
const client = createPublicClient({ transport: http(`${url}/api/eth-rpc`, { batch: true }) })
const last = chain.at(-1).block
const logs = chain.flatMap((line) => line.receipts.flatMap((receipt) => receipt.logs))

check('chain id', await client.getChainId(), 31337)
check('block number', await client.getBlockNumber({ cacheTime: 0 }), BigInt(last.number))

const blocks = await Promise.all(chain.map((line) => client.getBlock({ blockNumber: BigInt(line.block.number), includeTransactions: true })))
check('block hashes', blocks.map((block) => block.hash), chain.map((line) => line.block.hash))
check('transaction types', blocks.flatMap((block) => block.transactions.map((tx) => tx.typeHex)), chain.flatMap((line) => line.block.transactions.map((tx) => tx.type)))
check('transaction values', blocks.flatMap((block) => block.transactions.map((tx) => tx.value)), chain.flatMap((line) => line.block.transactions.map((tx) => BigInt(tx.value))))

const signed = blocks.flatMap((block) => block.transactions).find((tx) => tx.authorizationList?.length)
check('an authorization list is read', signed.authorizationList[0].address.length, 42)

const transfer = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)')
const decoded = await client.getLogs({ event: transfer, fromBlock: 0n, toBlock: BigInt(last.number), strict: true })
const topic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const wanted = logs.filter((log) => log.topics[0] === topic && log.topics.length === 3 && log.data.length === 66)
check('decoded transfers', decoded.map((log) => log.args.value), wanted.map((log) => BigInt(log.data)))

const token = wanted[0].address
const from = getAddress(`0x${wanted.find((log) => log.address === token).topics[1].slice(26)}`)
const some = await client.getLogs({ address: token, event: transfer, args: { from }, fromBlock: 0n, toBlock: 'latest' })
check('transfers of one token from one account', some.map((log) => log.transactionHash),
  logs.filter((log) => log.address === token && log.topics[0] === topic && log.topics[1]?.endsWith(from.slice(2).toLowerCase())).map((log) => log.transactionHash))
check('log indexes', some.map((log) => log.logIndex).every(Number.isInteger), true)

const failed = chain.flatMap((line) => line.receipts).find((receipt) => receipt.status === '0x0')
const receipt = await client.getTransactionReceipt({ hash: failed.transactionHash })
check('a failed transaction says so', receipt.status, 'reverted')
check('its gas', receipt.gasUsed, BigInt(failed.gasUsed))
const created = chain.flatMap((line) => line.receipts).find((receipt) => receipt.contractAddress)
check('a created contract', (await client.getTransactionReceipt({ hash: created.transactionHash })).contractAddress, created.contractAddress)

let refused = ''
await client.getLogs({ fromBlock: 5n, toBlock: 4n }).catch((error) => { refused = error.name + error.details })
check('a refusal is an error that is understood', refused, 'InvalidParamsRpcErrorinvalid block range params')
let absent = ''
await client.getBlock({ blockNumber: 5000n }).catch((error) => { absent = error.name })
check('an absent block', absent, 'BlockNotFoundError')
finish()
