// ethers against /api/eth-rpc. Usage: ethers.mjs API_URL CHAIN.ndjson.gz
import { JsonRpcProvider, Interface } from 'ethers'
import { check, lines, finish } from './check.mjs'

const [url, dump] = process.argv.slice(2)
const chain = lines(dump)
const provider = new JsonRpcProvider(`${url}/api/eth-rpc`)
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
const found = await provider.getLogs({ address: token, topics: [topic], fromBlock: 0, toBlock: Number(last.number) })
const wanted = logs.filter((log) => log.address === token && log.topics[0] === topic)
check('logs', found.map((log) => [log.blockHash, log.index, log.data]), wanted.map((log) => [log.blockHash, Number(log.logIndex), log.data]))
check('values', found.map((log) => abi.parseLog(log).args.value), wanted.map((log) => BigInt(log.data)))

const receipts = await Promise.all(chain[5].receipts.map((receipt) => provider.getTransactionReceipt(receipt.transactionHash)))
check('receipts', receipts.map((receipt) => [receipt.status, receipt.gasUsed, receipt.logs.length]),
  chain[5].receipts.map((receipt) => [Number(receipt.status), BigInt(receipt.gasUsed), receipt.logs.length]))
check('an absent transaction', await provider.getTransaction(`0x${'12'.repeat(32)}`), null)
provider.destroy()
finish()
