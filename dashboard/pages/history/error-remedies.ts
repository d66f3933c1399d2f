import type { Execution } from '../../data/executions/executions.ts';

type ErrorCode = NonNullable<Execution['errorCode']>;

/** What a user can do about each error code. */
export const remedies: Readonly<Record<ErrorCode, string>> = {
  RATE_LIMIT_EXCEEDED: 'Call less often, wait for the next window, or raise the limit.',
  QUOTA_EXCEEDED:
    'The plan has no AI Actions left this month. Wait until they reset next month, or ask an owner to raise the quota.',
  BUDGET_EXCEEDED:
    'A budget had no room for the call. Wait for its next window, or ask an owner to raise it under Settings, Budgets.',
  AGENT_NOT_ACTIVE:
    'The agent did not accept calls: its API was disabled, or it was in Draft, Paused or archived. Move it to Testing or Deployed and enable the API.',
  KEY_NOT_AUTHORIZED:
    'The key was revoked, expired or not allowed to call this agent. Use a key with access to this agent.',
  MODEL_TIMEOUT:
    "The model did not respond within the agent's timeout. Raise the timeout, request fewer tokens, or use a faster model.",
  MODEL_NOT_FOUND:
    'The provider does not offer this model to your account. Check the model name after the slash.',
  PROVIDER_NOT_CONFIGURED:
    'The workspace has no provider with this name. An owner can add it under Settings, Providers.',
  PROVIDER_AUTH:
    'The provider rejected the stored credential. An owner can replace it under Settings, Providers.',
  PROVIDER_RATE_LIMITED:
    "The provider's rate limit was reached in every attempt. Run again later, lower the agent's max concurrency, or raise the limit at the provider.",
  PROVIDER_QUOTA:
    'The account at the provider is out of credit or reached its spending limit. Add credit or raise the limit at the provider, then run again.',
  PROVIDER_ERROR:
    'The provider failed or was unreachable in every attempt. This is usually temporary: run again.',
  CONTEXT_LENGTH:
    "Prompt and output exceed the model's context window. Shorten the prompt, request fewer tokens, or use a model with a larger window.",
  CONTENT_FILTERED: 'The provider blocked this content. Change the prompt or the variables.',
  SCHEMA_MISMATCH:
    'The output is not JSON that matches the schema. Describe the fields in the prompt, simplify the schema, raise the maximum tokens, or try another model.',
  TOOL_LIMIT:
    'The model wanted more turns or calls of tools than the agent allows. Raise the limits in its settings, or tell it in the prompt when to answer.',
  TOOL_OUTCOME_UNKNOWN:
    'The tool server did not say whether a call took effect, and the call is not sent twice. Look there for its identifier, and mark tools that may be repeated as safe.',
  TOOL_SERVER_ERROR:
    'A tool server answered with an error. The timeline shows it. Mend the server or the arguments, or let the model read such errors.',
  FILE_UNAVAILABLE:
    'An image or file could not be fetched from its URL for a provider that needs its contents. Check that the URL is public, answers without a login, and has at most 20 MiB.',
  COST_LIMIT:
    'Another call of the model could have exceeded the limit of cost. Raise the limit, lower the maximum tokens, or shorten the prompt.',
  PRICE_UNKNOWN:
    'A limit of cost needs the price of the model. An owner can set it under Settings, Providers.',
  EMPTY_OUTPUT:
    'The model answered without a text, twice. If it only reasoned, raise max tokens; if it called a tool, tell it to answer in text.',
  CANCELED: 'No action needed.',
  WORKER_LOST:
    'The workers that ran it crashed repeatedly. The model may have been called. Check memory and logs of the workers, then run again.',
  INTERNAL:
    "An internal error. Search the server log for the execution's ID; running again may help.",
};

export const errorCodes = Object.keys(remedies) as readonly ErrorCode[];
