import type { FileKind } from '../agent/file-value.ts';
import { malformedFile, type StoredVariables, storeFiles } from '../agent/stored-files.ts';
import {
  mismatchedVariable,
  type VariableMismatch,
  variableMismatchMessage,
} from '../agent/variable-schemas.ts';
import { malformedList, type Variables } from '../agent/variables.ts';
import type { AllowedHosts } from '../allowed-hosts.ts';
import { computeJob } from '../compute.ts';
import { members } from '../json.ts';
import { findSchemaProblem, schemaWarnings } from '../schema/schema-validator.ts';

/**
 * What a call must satisfy beyond its names: values that are lists of messages, files, or match a schema, and the schema that
 * the caller asks for. It compiles schemas, decodes files and hashes them, so it runs in the compute thread, never while rows
 * are locked. Admission uses the result only if the locked agent still asks the same question.
 */
export interface VariablesQuestion {
  readonly workspaceId: string;
  /** The version whose lists, files and schemas follow. A version never changes. */
  readonly versionId: string;
  readonly messageLists: readonly string[];
  readonly fileVariables: Readonly<Record<string, FileKind>>;
  readonly variableSchemas: string | null;
  /** The agent's values of those lists and files that are not supplied, as JSON. */
  readonly defaults: string;
  /** The variables as compact JSON. */
  readonly json: string;
  /** The schema that the caller asks for, as JSON, and what its field is called; null for none. */
  readonly callerSchema: CallerSchema | null;
}

export interface CallerSchema {
  readonly json: string;
  readonly field: string;
}

export interface VariablesAnswer {
  readonly problem: VariablesProblem | null;
  /** The variables as they are stored. */
  readonly stored: StoredVariables;
  /** What the caller's schema does not check, as JSON; null if it checks everything. */
  readonly warnings: string | null;
}

export type VariablesProblem =
  | { readonly kind: 'list'; readonly variable: string; readonly problem: string }
  | { readonly kind: 'file'; readonly variable: string; readonly problem: string }
  | { readonly kind: 'schema'; readonly mismatch: VariableMismatch }
  | { readonly kind: 'caller-schema'; readonly problem: string };

/** What the question needs of an agent. */
export type QuestionedAgent = Pick<
  VariablesQuestion,
  'workspaceId' | 'versionId' | 'messageLists' | 'fileVariables' | 'variableSchemas'
> & { readonly defaults: Readonly<Record<string, unknown>> };

/** Null if there is nothing to examine. */
export function questionOf(
  agent: QuestionedAgent,
  { json }: Variables,
  callerSchema: CallerSchema | null = null,
): VariablesQuestion | null {
  const { workspaceId, versionId, messageLists, fileVariables, variableSchemas, defaults } = agent;
  const special = [...messageLists, ...Object.keys(fileVariables)];
  if (special.length === 0 && variableSchemas === null && callerSchema === null) return null;
  const used = Object.entries(defaults).filter(([name]) => special.includes(name));
  return {
    ...{ workspaceId, versionId, messageLists, fileVariables, variableSchemas, json, callerSchema },
    defaults: JSON.stringify(Object.fromEntries(used)),
  };
}

export function isSameQuestion(one: VariablesQuestion, other: VariablesQuestion): boolean {
  return (
    one.workspaceId === other.workspaceId &&
    one.versionId === other.versionId &&
    one.defaults === other.defaults &&
    one.json === other.json &&
    one.callerSchema?.json === other.callerSchema?.json
  );
}

/** A question with what the process allows: the hosts whose files may have URLs that begin with `http:`. */
export interface VariablesJob extends VariablesQuestion {
  readonly allowed?: AllowedHosts;
}

export function examineVariables(question: VariablesJob): VariablesAnswer {
  const { json } = question;
  const variables = {
    json,
    values: new Map(members(json).map(({ name, text }) => [name, text])),
  };
  const problem = problemOf(question, variables);
  if (problem) return { problem, stored: asSent(variables), warnings: null };
  const defaults: Record<string, unknown> = JSON.parse(question.defaults);
  const stored = storeFiles({ ...question, defaults }, variables);
  return { problem, stored, warnings: warningsOf(question) };
}

export const examineVariablesJob = computeJob(import.meta.url, examineVariables);

/** Variables without files. */
export function asSent({ json }: Variables): StoredVariables {
  return { json, files: null, fileData: null };
}

function problemOf(question: VariablesJob, variables: Variables): VariablesProblem | null {
  const { workspaceId, messageLists, variableSchemas, callerSchema, allowed } = question;
  const list = malformedList(messageLists, variables, allowed);
  if (list) return { kind: 'list', ...list };
  const file = malformedFile(question, variables, allowed);
  if (file) return { kind: 'file', ...file };
  const mismatch = mismatchedVariable(workspaceId, variableSchemas, variables);
  if (mismatch) return { kind: 'schema', mismatch };
  if (callerSchema === null) return null;
  const problem = findSchemaProblem({ workspaceId, schema: callerSchema.json });
  return problem === null ? null : { kind: 'caller-schema', problem };
}

/** Of a schema that is valid, and therefore compiled. */
function warningsOf({ workspaceId, callerSchema }: VariablesJob): string | null {
  if (callerSchema === null) return null;
  const { json: schema, field } = callerSchema;
  const warnings = schemaWarnings({ workspaceId, schema, field });
  return warnings.length === 0 ? null : JSON.stringify(warnings);
}

/** The problem of a variable as a message and the fields of a refusal. */
export function variableProblemText(problem: VariablesProblem): {
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
} {
  if (problem.kind === 'caller-schema') throw new Error('The problem is not of a variable.');
  if (problem.kind === 'schema') {
    const { mismatch } = problem;
    const { variable, path } = mismatch;
    return { message: variableMismatchMessage(mismatch), fields: { variable, path } };
  }
  const { variable } = problem;
  return { message: `Variable "${variable}" ${problem.problem}.`, fields: { variable } };
}
