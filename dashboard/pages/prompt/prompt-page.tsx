import { useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi, Link, Outlet } from '@tanstack/react-router';
import { Identifier } from '../../components/code/identifier.tsx';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { Tabs } from '../../components/layout/tabs.tsx';
import { StateBadge } from '../../components/states/state-badge.tsx';
import { promptQuery } from '../../data/prompts/prompts.ts';
import { PromptActions } from './prompt-actions.tsx';

const route = getRouteApi('/app/prompts/$promptId');

const areas = [
  { to: '/prompts/$promptId', label: 'Editor' },
  { to: '/prompts/$promptId/playground', label: 'Playground' },
  { to: '/prompts/$promptId/versions', label: 'Versions' },
] as const;

export function PromptPage() {
  const { promptId } = route.useParams();
  const { data: prompt } = useSuspenseQuery(promptQuery(promptId));
  return (
    <>
      <PageHeader
        parent={{ label: 'Prompts', to: '/prompts' }}
        title={prompt.name}
        badge={
          <>
            {prompt.archived && <StateBadge tone="calm" text="Archived" />}
            <Identifier id={promptId} name="prompt ID" />
          </>
        }
        about={prompt.description}
        actions={<PromptActions prompt={prompt} />}
      />
      <Tabs label="Prompt" page={prompt.name}>
        {areas.map(({ to, label }) => (
          <Link
            key={to}
            to={to}
            params={{ promptId }}
            activeOptions={{ exact: true, includeSearch: false }}
          >
            {label}
          </Link>
        ))}
      </Tabs>
      <Outlet />
    </>
  );
}
