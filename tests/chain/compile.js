// Prints the code of Usdc.sol as it lies on a chain, in hexadecimal digits.
const fs = require("fs");
const path = require("path");
const solc = require("solc");

const content = fs.readFileSync(path.join(__dirname, "Usdc.sol"), "utf8");
const input = {
  language: "Solidity",
  sources: { "Usdc.sol": { content } },
  settings: {
    optimizer: { enabled: true, runs: 200 },
    metadata: { appendCBOR: false },
    outputSelection: { "*": { "*": ["evm.deployedBytecode.object"] } },
  },
};
const output = JSON.parse(solc.compile(JSON.stringify(input)));
for (const problem of output.errors || []) console.error(problem.formattedMessage);
console.log(output.contracts["Usdc.sol"].Usdc.evm.deployedBytecode.object);
