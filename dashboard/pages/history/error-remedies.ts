import type { Execution } from '../../data/executions/executions.ts';

type ErrorCode = NonNullable<Execution['errorCode']>;

/** What someone can do about each way in which a run goes wrong. */
export const remedies: Readonly<Record<ErrorCode, string>> = {
  RATE_LIMIT_EXCEEDED:
    'A limit of the key, of the agent or of the Testing stage was reached. Call less often, wait for the next window, or raise the limit.',
  QUOTA_EXCEEDED:
    'The plan has no AI Actions left this month. They begin anew with the month, or an owner sets a larger plan.',
  AGENT_NOT_ACTIVE:
    'The agent took no calls: its API was off, or it was a Draft, Paused or archived. Move it to Testing or Deployed, with the API switched on.',
  KEY_NOT_AUTHORIZED:
    'The key was revoked, had expired, or is not for this agent. Issue another, or let it reach this agent.',
  MODEL_TIMEOUT:
    "The model did not answer in the agent's time. Raise timeoutMs, ask for fewer tokens, or take a faster model.",
  MODEL_NOT_FOUND:
    'The provider does not know this model, or not for your account. Look at the name after the slash, and pin or set another.',
  PROVIDER_NOT_CONFIGURED:
    'The workspace has no provider of that name. An owner adds it in the settings, under Providers.',
  PROVIDER_AUTH:
    'The provider refused the stored credential. Save a valid one in the settings, under Providers.',
  PROVIDER_RATE_LIMITED:
    "The provider's own limit was reached in every attempt. Run it again later, cap the agent's runs at once, or ask the provider for more.",
  PROVIDER_ERROR:
    'The provider failed in every attempt, or was out of reach. Usually it passes: run it again.',
  CONTEXT_LENGTH:
    'Prompt and answer together are longer than the model takes. Send less, ask for fewer tokens, or take a model with a larger window.',
  CONTENT_FILTERED: 'The provider would not answer this content. Change the prompt or the values.',
  CANCELED: 'Someone canceled it. Nothing needs to be done.',
  WORKER_LOST:
    'The processes that ran it were lost again and again. The model may have been called. Look at the memory and the logs of the workers, then run it again.',
  INTERNAL:
    'A fault of the service itself. The log holds more under the execution’s identifier; running it again may help.',
};

export const errorCodes = Object.keys(remedies) as readonly ErrorCode[];
