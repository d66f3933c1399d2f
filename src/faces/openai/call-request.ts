import type { Conversation } from '../../core/agent/conversation.ts';
import type { Parameters } from './read-parameters.ts';

/** A call of an agent as a client of the OpenAI API sends it. */
export interface CallRequest {
  /** The identifier, slug or an alias of the agent. */
  readonly model: string;
  /** Likewise, from the prompt of the call: it must be the same agent. Null or left out if it names none. */
  readonly promptAgent?: string | null;
  readonly conversation: Conversation;
  readonly isStream: boolean;
  readonly isBackground: boolean;
  /** As sent, to be echoed; null or left out if there is none. */
  readonly prompt?: Parameters | null;
  /** Whether a stream of chat ends with the usage. */
  readonly includesUsage?: boolean;
}
