"""Payments in USDC on Base: amounts, payees, limits, the chain, and x402."""
