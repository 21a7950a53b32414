// Clients that look up contracts: ethers, whatsabi, and what hardhat-verify asks first. Usage: verified.mjs API_URL ABIS.json
import fs from 'node:fs'
import { EtherscanProvider, Interface, Network } from 'ethers'
import { loaders } from '@shazow/whatsabi'
// The package exports no look-up by itself.
import { Blockscout } from './node_modules/@nomicfoundation/hardhat-verify/dist/src/internal/blockscout.js'
import { Etherscan } from './node_modules/@nomicfoundation/hardhat-verify/dist/src/internal/etherscan.js'
import { check, finish } from './check.mjs'

const [base, file] = process.argv.slice(2)
const abis = JSON.parse(fs.readFileSync(file))
const unknown = `0x${'12'.repeat(20)}`

class Provider extends EtherscanProvider {
  getBaseUrl() { return base }
  getUrl(module, params) { return super.getUrl(module, params).replace('https://api.etherscan.io', base) }
}
const provider = new Provider(new Network('mainnet', 1n), 'key')
const etherscan = new loaders.EtherscanV2ABILoader({ apiKey: 'key' })
etherscan.baseURL = `${base}/v2/api?chainid=31337`
const blockscout = new loaders.BlockscoutABILoader({ baseURL: `${base}/api` })

for (const [address, { abi, contractName }] of Object.entries(abis)) {
  const contract = await provider.getContract(address)
  check(`ethers, ${contractName}`, contract.interface.format(), new Interface(abi).format())
  for (const loader of [etherscan, blockscout]) {
    check(`${loader.name}, ${contractName}`, await loader.loadABI(address), abi)
    const details = await loader.getContract(address)
    check(`${loader.name}, contract ${contractName}`, [details.name, details.abi], [contractName, abi])
  }
}
for (const loader of [etherscan, blockscout]) {
  check(`${loader.name}, unknown`, [await loader.loadABI(unknown), (await loader.getContract(unknown)).ok], [[], false])
}
check('ethers, unknown', await provider.getContract(unknown), null)

// ABIs were loaded without sources: the plugin would go on to verify, and is refused in a sentence.
const address = Object.keys(abis)[0]
const lookups = [
  new Blockscout({ url: base, apiUrl: `${base}/api` }),
  new Etherscan({ chainId: 31337, url: base, apiUrl: `${base}/v2/api`, apiKey: 'key' }),
]
for (const lookup of lookups) {
  check(`hardhat-verify, ${lookup.name}`, [await lookup.isVerified(address), await lookup.isVerified(unknown)], [false, false])
  const request = { contractAddress: address, compilerInput: {}, contractName: 'a:b', compilerVersion: '0.8.28', constructorArguments: '' }
  const message = await lookup.verify(request).catch((error) => error.message)
  check(`hardhat-verify, ${lookup.name}, verification`, typeof message === 'string' && message.length > 0, true)
}
provider.destroy()
finish()
