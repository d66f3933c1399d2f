import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useRef } from 'react';
import {
  type ResolvedDefinition,
  useResolvedDefinition,
} from '../../../data/workflows/agents-by-name.ts';
import {
  type LineProblem,
  type ReadDefinition,
  readDefinition,
} from '../../../data/workflows/definition-text.ts';
import { validationQuery } from '../../../data/workflows/workflows.ts';

const validationDelayMs = 400;

export interface DefinitionProblem extends LineProblem {
  /** The position of the step that has it; null for the workflow as a whole. */
  readonly stepIndex: number | null;
}

export interface Validation {
  /** With the ids of agents; undefined if the text cannot be parsed. */
  readonly definition: unknown;
  /** False until the server has validated the current text. */
  readonly valid: boolean;
  /** Of the newest text that was validated. */
  readonly problems: readonly DefinitionProblem[];
  readonly error: unknown;
}

/** Validates a definition on the server while the user types. */
export function useValidation(text: string, enabled: boolean): Validation {
  const [settled] = useDebouncedValue(text, validationDelayMs);
  const read = useMemo(() => readDefinition(settled), [settled]);
  const { definition, problems: ofNames, isLoading } = useResolvedDefinition(read.definition);
  const isReadable = read.definition !== undefined;
  const verdict = useQuery({
    ...validationQuery(definition ?? null),
    enabled: enabled && isReadable && !isLoading,
  });
  const answered = isLoading ? undefined : verdict.data?.problems;
  const found = useMemo(() => {
    if (!enabled) return none;
    if (!isReadable) return read.problems.map((one) => ({ ...one, stepIndex: null }));
    return answered ? problemsOf(answered, read, ofNames) : null;
  }, [enabled, isReadable, read, answered, ofNames]);
  // Until the next verdict, the problems of the last one: their lines belong to the text that it is about.
  const last = useRef<readonly DefinitionProblem[]>(none);
  if (found) last.current = found;
  return {
    definition,
    valid: enabled && isReadable && settled === text && found?.length === 0,
    problems: last.current,
    error: verdict.error,
  };
}

const none: readonly DefinitionProblem[] = [];

interface ServerProblem {
  readonly step: string | null;
  readonly path: string;
  readonly message: string;
}

/** Each problem of a line once: a text may contain the same mistake several times. */
function problemsOf(
  problems: readonly ServerProblem[],
  { lineOf }: ReadDefinition,
  ofNames: ResolvedDefinition['problems'],
): DefinitionProblem[] {
  const found = problems.map(({ step, path, message }) => {
    const text = ofNames.get(path) ?? message;
    const index = /^steps\.(\d+)/.exec(path)?.[1];
    return {
      line: lineOf(path),
      message: step === null ? text : `${step}: ${text}`,
      stepIndex: index === undefined ? null : Number(index),
    };
  });
  return [...new Map(found.map((one) => [`${one.line} ${one.message}`, one])).values()];
}
