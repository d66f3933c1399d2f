/**
 * Every bound of the public API, in one place. Texts are measured in characters, lists in items.
 * What is over a bound is refused with 400 and never cut.
 */

export { variableNameMax, variablesMax } from '../core/agent/prompt.ts';

export const bodyBytesMax = 1_048_576;

export const nameMax = 200;
export const descriptionMax = 2_000;
export const labelMax = 100;
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
export const tokenMax = 200;
export const cursorMax = 200;

export const cronMax = 200;
export const timeZoneMax = 100;
/** Things of one kind in a declaration, and versions of one prompt there. */
export const declaredMax = 1_000;
export const declaredVersionsMax = 1_000;
/** Of each step with a list, in the answer that tells of a whole run. */
export const runItemsMax = 100;
/** So many runs are counted, and no more: a page must not take longer the more there are. */
export const runsCountedMax = 10_000;
/** Of an expression that says whether a step is carried out. */
export const conditionMax = 2_000;

export const modelMax = 256;
export const temperatureMax = 2;
export const maxTokensMax = 1_000_000;
export const attemptsMax = 5;
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
/** Answers held for runs at once in one process. Half of what may be open there: others must always find room. */
export const waitsMax = 2_500;
/** Of these for one key or user. */
export const waitsOfCallerMax = 1_000;

export const pageDefault = 20;
export const pageMax = 100;
export const offsetMax = 1_000_000_000;
/** Records that are read one by one at most, where no count says which of them match. */
export const recordsReadMax = 100_000;
/** The same where words are searched for, and characters of each record that are. */
export const recordsSearchedMax = 20_000;
export const searchedCharactersMax = 200_000;
export const retentionDaysMax = 36_500;
export const erasedNameMax = 1_000;
export const erasedValueMax = 10_000;
export const variableFilterMax = 1_000;
export const variableFiltersMax = 10;
/** At once in one process. */
export const exportsMax = 4;
export const exportsOfWorkspaceMax = 2;
/** Pages whose records are too long to be held together, at once in one process. */
export const longPagesMax = 20;
export const longPagesOfWorkspaceMax = 10;
/** Of an export, and of such a page. */
export const streamMsMax = 3_600_000;
export const statisticsStepsMax = 1_500;
/** Agents that an answer can be narrowed down to by name. */
export const statisticsAgentsMax = 100;
/** Steps × groups, as far as something happened in them. */
export const statisticsBucketsMax = 25_000;
/** Rows of stored statistics that are added up for one answer. */
export const statisticsRowsMax = 100_000;
/** How far back minutes are kept whatever happened in them. */
export const statisticsMinuteDays = 2;
/** Runs that a list shows beside each workflow. */
export const workflowLastRunsMax = 5;
