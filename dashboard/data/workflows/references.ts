import { stepsOf } from './workflow-graph.ts';

/** The references that values may contain, without braces: inputs and outputs of steps. */
export function availableReferences(definition: unknown): string[] {
  const steps = stepsOf(definition).flatMap(({ name }) =>
    typeof name === 'string' && name !== '' ? `steps.${name}.output` : [],
  );
  return [...inputNames(definition).map((name) => `input.${name}`), ...steps];
}

/** The declared inputs, each once. */
export function inputNames(definition: unknown): string[] {
  const { required, optional, defaults } = inputOf(definition);
  return [...new Set([...texts(required), ...texts(optional), ...Object.keys(defaults ?? {})])];
}

/** Inputs of a definition of any shape. */
export function inputOf(definition: unknown): {
  readonly required?: unknown;
  readonly optional?: unknown;
  readonly defaults?: object;
} {
  const input = (definition as { readonly input?: unknown } | null | undefined)?.input;
  return typeof input === 'object' && input !== null ? input : {};
}

export const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
