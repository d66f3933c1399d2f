import type { AgentConfig } from '../../core/agent/model-settings.ts';

/**
 * `agentConfig` as stored in `jsonb`, which sorts names. A model writes properties in the order of its schema, so the
 * format of the output is stored as text.
 */
export type StoredConfig = Omit<AgentConfig, 'responseFormat'> & {
  readonly responseFormat?: string;
};

export function storedConfig({ responseFormat, ...config }: AgentConfig): string {
  const format = responseFormat && { responseFormat: JSON.stringify(responseFormat) };
  return JSON.stringify({ ...config, ...format });
}

export function agentConfigOf({ responseFormat, ...config }: StoredConfig): AgentConfig {
  return { ...config, ...(responseFormat && { responseFormat: JSON.parse(responseFormat) }) };
}
