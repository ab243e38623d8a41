import type { spendKinds } from '@vestra/contract/usage';

/** One thing that money is taken for. */
export type ChargeItem = {
  kind: (typeof spendKinds)[number];
  model: string | null;
  quantity: number;
  unit: 'input_tokens' | 'output_tokens' | 'cache_read_tokens' | 'cache_write_tokens' | 'seconds' | 'calls';
  /** May be a fraction: 0.10 US dollars per million tokens are 0.1 micro-dollars a token. */
  unitPriceMicros: number;
  /** Null for the org's own agent. */
  userId: string | null;
  deploymentId: string | null;
  conversationId: string | null;
  taskId: string | null;
  turnId: string | null;
  /** The quantity was counted here, because whoever was to say it never did. */
  isEstimated?: boolean;
};

/** What a call has used so far, at its prices. A quantity that is null is the seconds for which it has been metered. */
export type Used = Pick<ChargeItem, 'kind' | 'model'> & {
  items: readonly (Pick<ChargeItem, 'unit' | 'unitPriceMicros'> & { quantity: number | null })[];
};
