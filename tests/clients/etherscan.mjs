// The providers of ethers for explorers. Usage: etherscan.mjs RPC_URL CHAIN.ndjson.gz EXPECTED.json NODE_URL
import fs from 'node:fs'
import { BlockscoutProvider, Contract, EtherscanProvider, FetchRequest, JsonRpcProvider, Network } from 'ethers'
import { check, lines, finish } from './check.mjs'

const [url, dump, expectedFile, nodeUrl] = process.argv.slice(2)
const base = new URL(url).origin
const expected = JSON.parse(fs.readFileSync(expectedFile))
const chain = lines(dump)
// The provider knows some chains only, and takes the id from the network.
const network = new Network('mainnet', 1n)

// Only the address is replaced.
class Etherscan extends EtherscanProvider {
  getBaseUrl() { return base }
  getUrl(module, params) { return super.getUrl(module, params).replace('https://api.etherscan.io', base) }
  getPostUrl() { return super.getPostUrl().replace('https://api.etherscan.io', base) }
}
BlockscoutProvider.getRequest = () => new FetchRequest(`${base}/api/eth-rpc`)

const node = new JsonRpcProvider(nodeUrl)
const last = chain.at(-1).block
const accounts = expected.accounts
const usd = expected.addresses.DUSD
const erc20 = ['function balanceOf(address) view returns (uint256)', 'function transfer(address, uint256) returns (bool)']
for (const provider of [new Etherscan(network, 'key'), new BlockscoutProvider(network, 'key')]) {
  const name = provider.constructor.name
  const both = async (label, read) => check(`${label} (${name})`, await read(provider), await read(node))
  check(`block number (${name})`, await provider.getBlockNumber(), Number(last.number))
  for (const line of [chain[5], chain.at(-1)]) {
    const block = await provider.getBlock(Number(line.block.number), true)
    check(`block (${name})`, [block.hash, block.prefetchedTransactions.map((tx) => tx.hash)], [line.block.hash, line.block.transactions.map((tx) => tx.hash)])
  }
  const recorded = chain[5].receipts[0]
  const receipt = await provider.getTransactionReceipt(recorded.transactionHash)
  check(`receipt (${name})`, [receipt.status, receipt.gasUsed, receipt.logs.length], [Number(recorded.status), BigInt(recorded.gasUsed), recorded.logs.length])
  await both('transaction', async (from) => (await from.getTransaction(recorded.transactionHash)).toJSON())
  check(`an absent transaction (${name})`, await provider.getTransaction(`0x${'12'.repeat(32)}`), null)
  check(`balances (${name})`, await Promise.all(accounts.map((account) => provider.getBalance(account))), accounts.map((account) => BigInt(expected.native[account])))
  check(`nonces (${name})`, await Promise.all(accounts.map((account) => provider.getTransactionCount(account))), accounts.map((account) => expected.nonces[account]))
  await both('code', (from) => from.getCode(usd))
  await both('storage', (from) => from.getStorage(usd, 2))
  await both('a contract read', (from) => new Contract(usd, erc20, from).balanceOf(accounts[0]))
  await both('gas of a transfer', (from) => from.estimateGas({ from: accounts[0], to: accounts[1], value: 1n }))
  await both('gas of a contract call', (from) => new Contract(usd, erc20, from).transfer.estimateGas(accounts[2], 5n, { from: accounts[0] }))
  await both('gas price', async (from) => (await from.getFeeData()).gasPrice)
  const code = await new Contract(usd, erc20, provider).transfer.staticCall(accounts[2], 10n ** 30n, { from: accounts[0] }).catch((error) => error.code)
  check(`a revert (${name})`, code, 'CALL_EXCEPTION')
  provider.destroy()
}
node.destroy()
finish()
