import { Environment } from '@marcbachmann/cel-js';
import { canonical } from '../../../core/json.ts';
import { wholeJson } from '../../../core/json-in-text.ts';
import { findMismatch, findSchemaProblem } from '../../../core/schema/schema-validator.ts';
import { messageOf } from '../../../core/workflow/condition.ts';
import { conditionValue } from '../../../core/workflow/condition-value.ts';

/**
 * Examples of an agent: variables, and what its answer must be. The command line checks and executes them; the server
 * never evaluates one, so expressions have no budget.
 */

export interface Example {
  readonly name?: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly expect: Expectation;
}

/** All of them must hold. Without any, the execution must only succeed. */
export interface Expectation {
  /** A text equals `outputText`, any other value the output as JSON. */
  readonly equals?: unknown;
  /** Is a part of `outputText`. */
  readonly contains?: string;
  /** The output is JSON that matches this schema. */
  readonly matchesSchema?: unknown;
  /** An expression over `record` is true. */
  readonly cel?: string;
}

/** The fields of a record that expectations read. `cel` sees all. */
export interface CheckedRecord {
  readonly status: string;
  readonly error?: string | null;
  readonly errorCode?: string | null;
  readonly outputText?: string | null;
  readonly outputJson?: unknown;
}

const environment = new Environment({
  homogeneousAggregateLiterals: false,
  enableOptionalTypes: true,
}).registerVariable('record', 'dyn');

/** The share of the cache of schemas that examples use. */
const workspaceId = 'examples';

/** What is wrong with an expectation itself, by its field; null if it can be checked. */
export function expectationProblem({
  matchesSchema,
  cel,
}: Expectation): { readonly field: keyof Expectation; readonly problem: string } | null {
  if (matchesSchema !== undefined) {
    const problem = findSchemaProblem({ workspaceId, schema: JSON.stringify(matchesSchema) });
    if (problem !== null) return { field: 'matchesSchema', problem: `"matchesSchema" ${problem}.` };
  }
  const problem = cel === undefined ? null : expressionProblem(cel);
  return problem === null ? null : { field: 'cel', problem: `"cel" is not valid: ${problem}` };
}

function expressionProblem(cel: string): string | null {
  try {
    const { valid, type, error } = environment.check(cel);
    if (!valid) return messageOf(error);
    return type === 'bool' || type === 'dyn' ? null : `It returns ${type}, not bool.`;
  } catch (error) {
    return messageOf(error);
  }
}

/** What of the expectation the record does not meet, a sentence each. */
export function unmetExpectations(expect: Expectation, record: CheckedRecord): string[] {
  const { status, error, errorCode } = record;
  if (status !== 'success') return [`The execution is ${status}: ${error} (${errorCode})`];
  const unmet = [
    unequal(expect, record),
    notContained(expect, record),
    mismatch(expect, record),
    untrue(expect, record),
  ];
  return unmet.filter((one) => one !== null);
}

function unequal({ equals }: Expectation, record: CheckedRecord): string | null {
  if (equals === undefined) return null;
  const text = record.outputText ?? '';
  if (typeof equals === 'string') {
    return equals === text ? null : `equals: expected ${shown(equals)}, got ${shown(text)}`;
  }
  const json = outputJsonOf(record);
  if (json === null) return `equals: expected ${shown(equals)}, got no JSON: ${shown(text)}`;
  if (canonical(JSON.stringify(equals)) === canonical(json)) return null;
  return `equals: expected ${shown(equals)}, got ${cut(json)}`;
}

function notContained({ contains }: Expectation, { outputText }: CheckedRecord): string | null {
  if (contains === undefined || outputText?.includes(contains)) return null;
  return `contains: ${shown(contains)} is not in ${shown(outputText ?? '')}`;
}

function mismatch({ matchesSchema }: Expectation, record: CheckedRecord): string | null {
  if (matchesSchema === undefined) return null;
  const json = outputJsonOf(record);
  if (json === null) return `matchesSchema: no JSON: ${shown(record.outputText ?? '')}`;
  const found = findMismatch({ workspaceId, schema: JSON.stringify(matchesSchema) }, json);
  return found && `matchesSchema: ${found.path || 'the output'} ${found.message}: ${cut(json)}`;
}

function untrue({ cel }: Expectation, record: CheckedRecord): string | null {
  if (cel === undefined) return null;
  try {
    const value = environment.evaluate(cel, { record: conditionValue(JSON.stringify(record)) });
    return value === true ? null : `cel: ${cel} is ${shown(value)}`;
  } catch (error) {
    return `cel: ${cel}: ${messageOf(error)}`;
  }
}

/** The output as JSON: of a structured answer, or a text that is JSON, as steps of workflows read it. */
function outputJsonOf({ outputJson, outputText }: CheckedRecord): string | null {
  return outputJson === undefined ? wholeJson(outputText ?? '') : JSON.stringify(outputJson);
}

const shownCharsMax = 200;

function shown(value: unknown): string {
  return cut(typeof value === 'bigint' ? String(value) : String(JSON.stringify(value)));
}

function cut(text: string): string {
  return text.length > shownCharsMax ? `${text.slice(0, shownCharsMax - 1)}…` : text;
}
