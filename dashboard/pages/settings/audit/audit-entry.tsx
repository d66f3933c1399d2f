import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { agentQuery } from '../../../data/agents/agents.ts';
import { promptQuery } from '../../../data/prompts/prompts.ts';
import { workflowQuery } from '../../../data/workflows/workflows.ts';
import type { AuditEntry } from '../../../data/workspace/audit.ts';
import { useKeyNames } from '../../../data/workspace/key-names.ts';
import { useMemberNames } from '../../../data/workspace/member-names.ts';
import { actorWithoutUser, predicateOf, recordedName } from './audit-sentences.ts';

/** An entry as a sentence, with a link to what was changed while that exists. */
export function AuditSentence({ entry }: { readonly entry: AuditEntry }) {
  const nameOf = useMemberNames();
  const keyNames = useKeyNames();
  const { userId, apiKeyId } = entry;
  const [before, after] = predicateOf(entry);
  return (
    <span className="wrap" dir="auto">
      <strong>{userId === null ? actorWithoutUser(entry) : nameOf(userId)}</strong> {before}
      {after !== null && (
        <>
          <Subject entry={entry} />
          {after}
        </>
      )}
      {apiKeyId && (
        <span className="note">
          , with <Link to="/keys">{keyNames?.get(apiKeyId) ?? 'an API key'}</Link>
        </span>
      )}
    </span>
  );
}

function Subject({ entry }: { readonly entry: AuditEntry }) {
  const nameOf = useMemberNames();
  const keyNames = useKeyNames();
  const { subject } = entry;
  const name = recordedName(entry);
  switch (subject.slice(0, 4)) {
    case 'agt_':
      return <AgentSubject agentId={subject} name={name} />;
    case 'prm_':
      return <PromptSubject promptId={subject} name={name} />;
    case 'wfl_':
      return <WorkflowSubject workflowId={subject} name={name} />;
    case 'key_':
      return <Link to="/keys">{keyNames?.get(subject) ?? name ?? subject}</Link>;
    case 'usr_':
      return <Link to="/settings/members">{nameOf(subject)}</Link>;
    case 'wsp_':
      return 'this workspace';
    case 'alr_':
      return <Link to="/settings/alerts">{name ?? subject}</Link>;
    case 'end_':
      return <Link to="/settings/endpoints">{name ?? subject}</Link>;
    default:
      if (/^(provider|price)\./.test(entry.action)) {
        return <Link to="/settings/providers">{subject}</Link>;
      }
      return name ?? subject;
  }
}

interface Named {
  readonly name: string | undefined;
}

function AgentSubject({ agentId, name }: Named & { readonly agentId: string }) {
  const { data } = useQuery(agentQuery(agentId));
  if (!data) return name ?? agentId;
  return (
    <Link to="/agents/$agentId" params={{ agentId }}>
      {data.agentName}
    </Link>
  );
}

function PromptSubject({ promptId, name }: Named & { readonly promptId: string }): ReactNode {
  const { data } = useQuery(promptQuery(promptId));
  if (!data) return name ?? promptId;
  return (
    <Link to="/prompts/$promptId" params={{ promptId }}>
      {data.name}
    </Link>
  );
}

function WorkflowSubject({ workflowId, name }: Named & { readonly workflowId: string }): ReactNode {
  const { data } = useQuery(workflowQuery(workflowId));
  if (!data) return name ?? workflowId;
  return (
    <Link to="/workflows/$workflowId" params={{ workflowId }}>
      {data.name}
    </Link>
  );
}
