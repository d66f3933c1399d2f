/**
 * Every limit of the public API. Strings are measured in characters, arrays in items. Values over a
 * limit are rejected with 400 and never truncated.
 */

export { variableNameMax, variablesMax } from '../../core/agent/prompt.ts';

export const bodyBytesMax = 1_048_576;
/** More than any such body needs: parsing them takes less than ten milliseconds. */
export const bodyNamesMax = 10_000;

export const nameMax = 200;
export const fileNameMax = 255;
export const descriptionMax = 2_000;
export { aliasesMax } from '../../core/slug.ts';
export const labelMax = 100;
export const versionAliasesMax = 100;
export const notesMax = 2_000;
export const templateMax = 262_144;
export const projectMax = 100;
export const categoryMax = 100;
export const tagMax = 50;
export const tagsMax = 20;
export const searchMax = 200;
export const emailMax = 254;
export const passwordMin = 10;
export const passwordMax = 128;
export const originMax = 255;
export const originsMax = 50;
export const urlMax = 2_000;
export const secretMax = 4_096;
export { headersMax, queryMax } from '../../core/model/request-extras.ts';
export const tokenMax = 200;
export const cursorMax = 200;

export const cronMax = 200;
export const timeZoneMax = 100;
/** Resources of one kind in a declaration, and versions of one prompt. */
export const declaredMax = 1_000;
export const declaredVersionsMax = 1_000;
/** Items of each `forEach` step in the response with the full workflow run. */
export const runItemsMax = 100;
/** Workflow runs are counted up to this number, so that the time for a page stays bounded. */
export const runsCountedMax = 10_000;
/** Runs of a list whose executions are added up. */
export const runsWithUsageMax = 10;
/** Length of a step's condition, and of an expression about a record. */
export const conditionMax = 2_000;

export const modelMax = 256;
export const temperatureMax = 2;
/** Executions whose cost is estimated together. */
export const estimatedMax = 1_000_000;
export const maxTokensMax = 1_000_000;
export const messagesMax = 500;
/** Parts of the content of a message. */
export const partsMax = 100;
export const toolsMax = 128;
export const toolNameMax = 64;
export const toolDescriptionMax = 4_000;
export {
  definitionsCharsMax,
  resultLimitDefault,
  resultLimitMax,
  resultLimitMin,
  serverHeadersMax,
  serverToolsMax,
  toolConcurrencyDefault,
  toolConcurrencyMax,
  toolPathMax,
  toolServersMax,
  toolTimeoutMsDefault,
  toolTimeoutMsMax,
  toolTimeoutMsMin,
} from '../../core/tools/tool-server.ts';
export const stopTextMax = 500;
export const stopTextsMax = 16;
export const seedMax = 2_147_483_647;
export const topKMax = 1_000_000;
export const penaltyMax = 2;
export const serviceTierMax = 64;
/** Providers in `providerOptions`, and the length of their names. */
export const providerOptionsMax = 20;
export const providerOptionsNameMax = 64;
export const attemptsMax = 5;
/** Models of an agent. */
export const modelsMax = 10;
export const timeoutMsMin = 1_000;
export const timeoutMsMax = 3_600_000;
export const concurrencyMax = 100_000;
export const pricePerMillionMax = 1_000_000;
export const priceTextMax = 24;

export const requestsMax = 1_000_000_000;
export const actionsPerMonthMax = 1_000_000_000_000;
export const agentsPerKeyMax = 1_000;
export const graceSecondsMax = 604_800;
export const idempotencyKeyMax = 255;
export const waitSecondsMax = 60;
/**
 * Long polls and calls of the OpenAI API at once per process, as all that is shared between workspaces (`core/shares.ts`).
 * Half of the open requests, so that other requests always get through.
 */
export const waitsMax = 2_500;
/** Readers of streams at once per process. */
export const streamsMax = 5_000;
/** An idle stream sends a comment this often. */
export const streamHeartbeatMs = 15_000;

export const pageDefault = 20;
export const pageMax = 100;
/** Executions of a session that its figures add up. */
export const sessionExecutionsMax = 1_000;
/** Agents in the list of models of the OpenAI API. */
export const modelsListMax = 10_000;
/** Responses whose items one call of the OpenAI API refers to. */
export const referencedResponsesMax = 100;
export const offsetMax = 1_000_000_000;
/** The number of characters that a full-text search covers per record. */
export const searchedCharactersMax = 200_000;
export const dismissalDaysMax = 30;
export const retentionDaysMax = 36_500;
export const erasedNameMax = 1_000;
export const erasedValueMax = 10_000;
export const variableFilterMax = 1_000;
export const variableFiltersMax = 10;
/** Values of one filter of the history. */
export const filterValuesMax = 20;
/** Saved views of a member. */
export const viewsMax = 50;
export const viewSearchMax = 4_000;
/** Executions that a list or an export may name. */
export const executionIdsMax = 100;
/** Exports at once per process. */
export const exportsMax = 4;
/** Lists, searches and statistics of executions and workflow runs at once per process. */
export const historyReadsMax = 8;
/** Of these, the searches: lists by text, variables, latency or cost. Each can keep a core busy, and two of a workspace delay others. */
export const searchesMax = 2;
/** How long further ones wait before they are rejected. A page of a search is filled within five seconds. */
export const historyReadWaitMs = 7_000;
/** Streamed pages (pages of records too large for memory) at once per process. */
export const longPagesMax = 20;
/** Maximum duration of an export or a streamed page. */
export const streamMsMax = 3_600_000;
export const statisticsIntervalsMax = 1_500;
/** Agents by which one statistics request can filter. */
export const statisticsAgentsMax = 100;
/** Non-empty buckets (intervals × groups). */
export const statisticsBucketsMax = 25_000;
/** Stored statistics rows that one response sums up. */
export const statisticsRowsMax = 100_000;
/** With a label in `groupBy`: a stored row per value. */
export const statisticsLabelRowsMax = 500_000;
/** Records of a user, read one by one: to add up those with a tag takes a second. */
export const statisticsRecordsMax = 50_000;
/** Values of a label that get a group of their own. */
export const statisticsValuesMax = 50;
/** Days for which statistics per minute are always kept. */
export const statisticsMinuteDays = 2;
/** Workflow runs shown per workflow in a list. */
export const workflowLastRunsMax = 5;
/** Calls of tools over MCP that wait for their result, per process. */
export const toolCallsMax = 2_500;
/** Bytes of a tool's result as text. */
export const toolResultBytesMax = 1_048_576;
/** Tools in one response, and the bytes after which it ends. */
export const toolsPageMax = 1_000;
export const toolsPageBytesMax = 2_097_152;
/** Messages of a JSON-RPC batch. The library refuses more. */
export const mcpMessagesMax = 100;
/** Bytes of the results in one response over MCP, and of its messages about progress. */
export const mcpResponseBytesMax = 8_388_608;
export const mcpProgressBytesMax = 1_048_576;
/** Uploads of batches at once per process. */
export const uploadsMax = 8;
/** Downloads of the results of batches at once per process. */
export const resultsMax = 8;
/** Reads and applies of declarations at once per process. Those of one workspace wait for each other in the database. */
export const declarationsMax = 4;
/** How long further ones wait before they are rejected. */
export const declarationWaitMs = 30_000;
/** Tests of providers and lists of their models at once per process. */
export const providerTestsMax = 20;
/** How long a request waits for a connection to the database before it is rejected. */
export const connectionWaitMs = 5_000;
/** Days of the preview of an alert. */
export const previewDaysMax = 7;
/** The largest threshold and number of calls of an alert. */
export const thresholdMax = 1e15;
export const minCountMax = 1_000_000_000;
/** Of the windows of a budget: it names a user. */
export const budgetCursorMax = 1_000;
