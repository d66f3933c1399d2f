import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { stringify as stringifyYaml } from 'yaml';
import { agentsQuery } from '../../../data/agents/agents.ts';
import { queryClient } from '../../../data/client/query-client.ts';
import { readDefinition } from '../../../data/workflows/definition-text.ts';
import { availableReferences } from '../../../data/workflows/references.ts';

/** Completes agents after `agent:` and `agentId:`, and references after two opening braces. */
export async function completeDefinition(
  context: CompletionContext,
): Promise<CompletionResult | null> {
  return completeReference(context) ?? (await completeAgent(context));
}

function completeReference(context: CompletionContext): CompletionResult | null {
  const match = context.matchBefore(/\{\{[ \t]*[\w.]*$/);
  if (!match) return null;
  const { definition } = readDefinition(context.state.doc.toString());
  // Text that cannot be parsed has no references to offer.
  if (definition === undefined) return null;
  const options = availableReferences(definition).map((reference) => ({
    label: reference,
    apply: `${reference}}}`,
  }));
  return { from: match.from + match.text.search(/[\w.]*$/), options, validFor: /^[\w.]*$/ };
}

async function completeAgent(context: CompletionContext): Promise<CompletionResult | null> {
  const match = context.matchBefore(/\bagent(?:Id)?"?:[^\n]*$/);
  const [, field, space = '', quote = '', typed = ''] =
    /^(agent(?:Id)?)"?:([ \t]*)(["']?)([^"',}]*)$/.exec(match?.text ?? '') ?? [];
  if (!match || field === undefined) return null;
  const q = typed.trim();
  const filters = { status: 'Deployed', limit: 50, ...(q && { q: q.slice(0, 200) }) } as const;
  const found = await queryClient.fetchQuery({ ...agentsQuery(filters), staleTime: 10_000 });
  const options = found.agents.map(({ agentId, agentName }): Completion => {
    const value = field === 'agent' ? written(agentName, quote) : agentId;
    return { label: agentName, apply: (space === '' && quote === '' ? ' ' : '') + value };
  });
  return { from: match.to - typed.length, options };
}

/** A name as a value: in the quotes that are open, or in those that it needs. */
function written(name: string, quote: string): string {
  if (quote === '"') return JSON.stringify(name).slice(1, -1);
  if (quote === "'") return name.replaceAll("'", "''");
  return stringifyYaml(name, { lineWidth: 0 }).trimEnd();
}
