// viem against an endpoint: what a dapp does on connect, with logs and with contracts. Usage: viem.mjs RPC_URL CHAIN.ndjson.gz EXPECTED.json NODE_URL
import fs from 'node:fs'
import { createPublicClient, http, keccak256, parseAbi, parseAbiItem, getAddress } from 'viem'
import { check, lines, finish } from './check.mjs'

const [url, dump, expectedFile, nodeUrl] = process.argv.slice(2)
const expected = JSON.parse(fs.readFileSync(expectedFile))
const chain = lines(dump)
const client = createPublicClient({ transport: http(url, { batch: true }) })
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
const transfers = logs.filter((log) => log.topics[0] === topic && log.topics.length === 3 && log.data.length === 66)
check('decoded transfers', decoded.map((log) => log.args.value), transfers.map((log) => BigInt(log.data)))

const token = transfers[0].address
const from = getAddress(`0x${transfers.find((log) => log.address === token).topics[1].slice(26)}`)
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

let failure = ''
await client.getLogs({ fromBlock: 5n, toBlock: 4n }).catch((error) => { failure = error.name + error.details })
check('a refusal is an error that is understood', failure, 'InvalidParamsRpcErrorinvalid block range params')
let absent = ''
await client.getBlock({ blockNumber: 5000n }).catch((error) => { absent = error.name })
check('an absent block', absent, 'BlockNotFoundError')

// State: what the scenario's script read from the node; and the node itself, where it read nothing.
const node = createPublicClient({ transport: http(nodeUrl) })
const both = async (name, read) => check(name, await read(client), await read(node))
const accounts = expected.accounts
check('balances', await Promise.all(accounts.map((address) => client.getBalance({ address }))), accounts.map((account) => BigInt(expected.native[account])))
check('nonces', await Promise.all(accounts.map((address) => client.getTransactionCount({ address }))), accounts.map((account) => expected.nonces[account]))
const contracts = Object.values(expected.addresses).filter((address) => expected.code[address])
const nothing = '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'
check('codes', await Promise.all(contracts.map(async (address) => keccak256((await client.getCode({ address })) ?? '0x'))), contracts.map((address) => expected.code[address] ?? nothing))
const erc20 = parseAbi(['function balanceOf(address) view returns (uint256)', 'function totalSupply() view returns (uint256)', 'function transfer(address, uint256) returns (bool)', 'error ERC20InsufficientBalance(address, uint256, uint256)'])
for (const [address, facts] of Object.entries(expected.erc20)) {
  check(`supply of ${facts.label}`, await client.readContract({ address, abi: erc20, functionName: 'totalSupply' }), BigInt(facts.totalSupply))
  const balances = await Promise.all(Object.keys(facts.balances).map((holder) => client.readContract({ address, abi: erc20, functionName: 'balanceOf', args: [holder] })))
  check(`holders of ${facts.label}`, balances, Object.values(facts.balances).map(BigInt))
}
const usd = expected.addresses.DUSD
const sending = (amount) => ({ address: usd, abi: erc20, functionName: 'transfer', args: [accounts[2], amount], account: accounts[0] })
await both('balance at a height', (from) => from.getBalance({ address: accounts[1], blockNumber: 30n }))
await both('nonce at a height', (from) => from.getTransactionCount({ address: accounts[1], blockNumber: 30n }))
await both('storage', (from) => from.getStorageAt({ address: usd, slot: '0x2', blockNumber: 30n }))
await both('a contract read at a height', (from) => from.readContract({ address: usd, abi: erc20, functionName: 'balanceOf', args: [accounts[0]], blockNumber: 30n }))
await both('a call', (from) => from.call({ to: usd, data: '0x313ce567' }))
await both('a call with other state', (from) => from.call({ to: accounts[5], data: '0x', stateOverride: [{ address: accounts[5], code: '0x5f545f5260205ff3', stateDiff: [{ slot: `0x${'00'.repeat(32)}`, value: `0x${'12'.repeat(32)}` }] }] }))
await both('a simulated write', async (from) => (await from.simulateContract(sending(5n))).result)
await both('gas of a transfer', (from) => from.estimateGas({ account: accounts[0], to: accounts[1], value: 1n }))
await both('gas of a contract call', (from) => from.estimateContractGas(sending(5n)))
await both('a revert is decoded', (from) => from.simulateContract(sending(10n ** 30n)).catch((error) => { const { data } = error.walk((cause) => cause.data?.errorName); return [data.errorName, data.args] }))
await both('an access list', async (from) => (await from.createAccessList({ account: accounts[0], to: usd, data: '0x18160ddd' })).accessList)
await both('gas price', (from) => from.getGasPrice())
await both('logs of a block', async (from) => (await from.getLogs({ blockHash: chain[20].block.hash })).map((log) => [log.logIndex, log.topics, log.data]))
await both('events of two kinds', async (from) => (await from.getLogs({ events: parseAbi(['event Transfer(address indexed, address indexed, uint256)', 'event Approval(address indexed, address indexed, uint256)']), fromBlock: 5n, toBlock: 80n })).map((log) => [log.eventName, log.args]))
finish()
