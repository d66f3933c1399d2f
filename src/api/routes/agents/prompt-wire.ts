import type {
  Prompt,
  PromptVersion,
  PromptVersionSummary,
} from '../../../contract/agents/prompts.ts';
import type { TemplateMessage } from '../../../core/agent/messages.ts';
import { placeholderWarnings } from '../../../core/agent/prompt.ts';
import { toId } from '../../../core/id.ts';
import type { PromptRow } from '../../../store/agent/prompts.ts';
import type { VersionRow, VersionSummaryRow } from '../../../store/agent/versions.ts';

/** Prompts and their versions in API format. */

export function promptWire(row: PromptRow): Prompt {
  return {
    promptId: toId('prompt', row.id),
    name: row.name,
    description: row.description,
    visibility: row.visibility,
    // Version numbers have no gaps, and versions are never deleted.
    versionCount: row.latest?.number ?? 0,
    latestVersion: row.latest && versionSummaryWire(row.latest),
    archived: row.archived,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
    createdBy: row.createdBy === null ? null : toId('user', row.createdBy),
  };
}

export function versionSummaryWire(row: VersionSummaryRow): PromptVersionSummary {
  return {
    promptVersionId: toId('version', row.id),
    promptVersionLabel: row.label,
    number: row.number,
    promptId: toId('prompt', row.promptId),
    variables: row.variables,
    model: row.model,
    temperature: row.temperature,
    maxTokens: row.maxTokens,
    topP: row.topP,
    ...row.settings,
    notes: row.notes,
    createdAt: row.createdAt.toISOString(),
    createdBy: row.createdBy === null ? null : toId('user', row.createdBy),
  };
}

export function versionWire(row: VersionRow): PromptVersion {
  const { system, user, messages, tools, toolChoice } = row;
  const variableSchemas = JSON.parse(row.variableSchemas ?? '{}') as Record<
    string,
    Record<string, unknown> | boolean
  >;
  return {
    ...versionSummaryWire(row),
    ...{ system, user },
    ...(messages && { messages: messages.map(messageWire) }),
    ...(tools && { tools: [...tools] }),
    ...(toolChoice && { toolChoice }),
    responseFormat: row.responseFormat === null ? null : JSON.parse(row.responseFormat),
    variableSchemas,
    warnings: placeholderWarnings(row),
  };
}

function messageWire(message: TemplateMessage): NonNullable<PromptVersion['messages']>[number] {
  if ('placeholder' in message) return message;
  const { role, content } = message;
  return { role, content: typeof content === 'string' ? content : [...content] };
}
