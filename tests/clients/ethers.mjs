// ethers against an endpoint. Usage: ethers.mjs RPC_URL CHAIN.ndjson.gz EXPECTED.json NODE_URL
import fs from 'node:fs'
import { JsonRpcProvider, Interface, Contract, keccak256 } from 'ethers'
import { check, lines, finish } from './check.mjs'

const [url, dump, expectedFile, nodeUrl] = process.argv.slice(2)
const expected = JSON.parse(fs.readFileSync(expectedFile))
const chain = lines(dump)
const provider = new JsonRpcProvider(url)
const last = chain.at(-1).block

check('network', (await provider.getNetwork()).chainId, 31337n)
check('block number', await provider.getBlockNumber(), Number(last.number))

const blocks = await Promise.all(chain.map((line) => provider.getBlock(Number(line.block.number), true)))
check('block hashes', blocks.map((block) => block.hash), chain.map((line) => line.block.hash))
check('transaction counts', blocks.map((block) => block.prefetchedTransactions.length), chain.map((line) => line.block.transactions.length))
check('signatures recover the senders', blocks.flatMap((block) => block.prefetchedTransactions).filter((tx) => tx.type === 2).slice(0, 50).map((tx) => tx.from.toLowerCase()),
  chain.flatMap((line) => line.block.transactions).filter((tx) => tx.type === '0x2').slice(0, 50).map((tx) => tx.from))

const logs = chain.flatMap((line) => line.receipts.flatMap((receipt) => receipt.logs))
const token = logs[0].address
const abi = new Interface(['event Transfer(address indexed from, address indexed to, uint256 value)'])
const topic = abi.getEvent('Transfer').topicHash
const tokenLogs = await provider.getLogs({ address: token, topics: [topic], fromBlock: 0, toBlock: Number(last.number) })
const transfers = logs.filter((log) => log.address === token && log.topics[0] === topic)
check('logs', tokenLogs.map((log) => [log.blockHash, log.index, log.data]), transfers.map((log) => [log.blockHash, Number(log.logIndex), log.data]))
check('values', tokenLogs.map((log) => abi.parseLog(log).args.value), transfers.map((log) => BigInt(log.data)))

const receipts = await Promise.all(chain[5].receipts.map((receipt) => provider.getTransactionReceipt(receipt.transactionHash)))
check('receipts', receipts.map((receipt) => [receipt.status, receipt.gasUsed, receipt.logs.length]),
  chain[5].receipts.map((receipt) => [Number(receipt.status), BigInt(receipt.gasUsed), receipt.logs.length]))
check('an absent transaction', await provider.getTransaction(`0x${'12'.repeat(32)}`), null)

// State: what the scenario's script read from the node; and the node itself, where it read nothing.
const node = new JsonRpcProvider(nodeUrl)
const both = async (name, read) => check(name, await read(provider), await read(node))
const accounts = expected.accounts
check('balances', await Promise.all(accounts.map((account) => provider.getBalance(account))), accounts.map((account) => BigInt(expected.native[account])))
check('nonces', await Promise.all(accounts.map((account) => provider.getTransactionCount(account))), accounts.map((account) => expected.nonces[account]))
const contracts = Object.values(expected.addresses).filter((address) => expected.code[address])
check('codes', await Promise.all(contracts.map(async (address) => keccak256(await provider.getCode(address)))), contracts.map((address) => expected.code[address]))
const erc20 = ['function balanceOf(address) view returns (uint256)', 'function totalSupply() view returns (uint256)', 'function name() view returns (string)', 'function transfer(address, uint256) returns (bool)',
  'error ERC20InsufficientBalance(address, uint256, uint256)']
for (const [address, facts] of Object.entries(expected.erc20)) {
  const contract = new Contract(address, erc20, provider)
  check(`supply of ${facts.label}`, await contract.totalSupply(), BigInt(facts.totalSupply))
  const holders = Object.keys(facts.balances)
  check(`holders of ${facts.label}`, await Promise.all(holders.map((holder) => contract.balanceOf(holder))), Object.values(facts.balances).map(BigInt))
}
const usd = expected.addresses.DUSD
await both('balance at a height', (from) => from.getBalance(accounts[1], 30))
await both('nonce at a height', (from) => from.getTransactionCount(accounts[1], 30))
await both('storage', (from) => from.getStorage(usd, 2, 30))
await both('a contract read at a height', (from) => new Contract(usd, erc20, from).balanceOf(accounts[0], { blockTag: 30 }))
await both('a call', (from) => from.call({ to: usd, data: '0x313ce567' }))
await both('a call that would send', (from) => new Contract(usd, erc20, from).transfer.staticCall(accounts[2], 5n, { from: accounts[0] }))
await both('gas of a transfer', (from) => from.estimateGas({ from: accounts[0], to: accounts[1], value: 1n }))
await both('gas of a contract call', (from) => new Contract(usd, erc20, from).transfer.estimateGas(accounts[2], 5n, { from: accounts[0] }))
await both('fees', async (from) => { const fees = await from.getFeeData(); return [fees.gasPrice, fees.maxPriorityFeePerGas] })
await both('a revert is decoded', (from) => new Contract(usd, erc20, from).transfer.staticCall(accounts[2], 10n ** 30n, { from: accounts[0] }).catch((error) => [error.code, error.revert?.name, error.revert?.args.toArray()]))
await both('logs of two topics', async (from) => (await from.getLogs({ fromBlock: 5, toBlock: 'latest', topics: [[topic, `0x${'12'.repeat(32)}`], null, `0x${'00'.repeat(12)}${accounts[3].slice(2).toLowerCase()}`] })).map((log) => [log.blockHash, log.index, log.topics, log.data]))
await both('events of a contract', async (from) => (await new Contract(usd, abi, from).queryFilter('Transfer', 10, 60)).map((event) => [event.blockNumber, event.args.toArray()]))
node.destroy()
provider.destroy()
finish()
