import type { Agent, PromptVersion } from '../../../src/client/index.ts';
import { fileVariablesOf } from '../prompts/messages.ts';
import { stringify } from '../text/exact-json.ts';
import { ownProperty } from '../text/own-property.ts';

export interface ValueField {
  readonly name: string;
  readonly required?: boolean;
  /** Set if the value is an image or a file. */
  readonly file?: 'image' | 'file' | undefined;
  /** The default value as text. */
  readonly defaultText?: string | undefined;
}

/** The declared inputs, required ones first. */
export function valueFields(declared: {
  readonly required: readonly string[];
  readonly optional: readonly string[];
  readonly defaults: Readonly<Record<string, unknown>>;
}): ValueField[] {
  const { required, optional, defaults } = declared;
  const others = new Set([...optional, ...Object.keys(defaults)]);
  for (const name of required) others.delete(name);
  return [
    ...required.map((name) => ({ name, required: true })),
    ...[...others].map((name) => ({ name, defaultText: textOf(ownProperty(defaults, name)) })),
  ];
}

/**
 * The declared variables of an agent.
 * @param version the pinned version, once it is loaded
 */
export function agentFields(agent: Agent, version?: PromptVersion): ValueField[] {
  const files = fileVariablesOf(version ?? {});
  const fields = valueFields({
    required: agent.requiredVariables,
    optional: agent.optionalVariables,
    defaults: agent.defaultVariableValues,
  });
  return fields.map((field) => ({ ...field, file: files.get(field.name) }));
}

function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'string' ? value : stringify(value);
}
