import { useQuery } from '@tanstack/react-query';
import type { Agent } from '../../../src/client/index.ts';
import { Time } from '../../components/figures/time.tsx';
import { Card, DescriptionList } from '../../components/layout/card.tsx';
import { agentFields } from '../../data/agents/value-fields.ts';
import { isNotFound } from '../../data/client/error-status.ts';
import { promptQuery, versionQuery } from '../../data/prompts/prompts.ts';
import { LimitsCard } from './limits-card.tsx';
import classes from './settings-summary.module.css';

/** The pinned version, model, variables and limits of the agent. */
export function SettingsSummary({ agent }: { readonly agent: Agent }) {
  const prompt = useQuery(promptQuery(agent.promptId));
  const version = useQuery(versionQuery(agent.promptId, agent.promptVersionId)).data;
  const config = agent.agentConfig;
  const versionAliases = Object.entries(agent.versionAliases).map((pair) => pair.join('='));
  const setting = (name: 'temperature' | 'maxTokens' | 'topP') =>
    config[name] ?? version?.[name] ?? 'default';
  return (
    <>
      <Card title="Pinned version">
        <DescriptionList
          items={[
            ['Prompt', prompt.data?.name ?? (isNotFound(prompt.error) ? 'private' : '…')],
            ['Version', <code key="label">{agent.promptVersionLabel}</code>],
            ['Model', <code key="model">{config.model ?? version?.model ?? '…'}</code>],
            ['Temperature', setting('temperature')],
            ['Max tokens', setting('maxTokens')],
            ['Top P', setting('topP')],
          ]}
        />
      </Card>
      <Card title="Variables">
        <Variables agent={agent} />
      </Card>
      <LimitsCard agent={agent} />
      <Card title="Details">
        <DescriptionList
          items={[
            ['Visibility', agent.visibility === 'public' ? 'all members' : 'creator and owners'],
            ['Slug', <code key="slug">{agent.slug}</code>],
            ...(agent.aliases.length > 0
              ? [['Aliases', <code key="aliases">{agent.aliases.join(', ')}</code>] as const]
              : []),
            ...(versionAliases.length > 0
              ? [
                  [
                    'Version aliases',
                    <code key="versions">{versionAliases.join(', ')}</code>,
                  ] as const,
                ]
              : []),
            ...(agent.project ? [['Project', agent.project] as const] : []),
            ...(agent.tags.length > 0 ? [['Tags', agent.tags.join(', ')] as const] : []),
            ['Created', <Time key="created" at={agent.createdAt} relative />],
            ['Updated', <Time key="changed" at={agent.updatedAt} relative />],
          ]}
        />
      </Card>
    </>
  );
}

function Variables({ agent }: { readonly agent: Agent }) {
  const all = agentFields(agent);
  if (all.length === 0) return <p className="note">No variables declared.</p>;
  return (
    <ul className={classes.variables}>
      {all.map(({ name, required, defaultText }) => (
        <li key={name}>
          <code>{name}</code>
          <span>
            {required
              ? 'required'
              : defaultText === undefined
                ? 'optional'
                : `default: “${defaultText}”`}
          </span>
        </li>
      ))}
    </ul>
  );
}
