import { useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi, Link, Outlet } from '@tanstack/react-router';
import { promptQuery } from '../../data/prompts.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import tabs from '../../parts/tabs.module.css';
import classes from './prompt.module.css';
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
        badge={prompt.archived && <StateBadge tone="calm" text="Archived" />}
        description={
          <>
            {prompt.description && <div>{prompt.description}</div>}
            <div className={classes.id}>
              <code>{promptId}</code>
              <CopyButton text={promptId} what="the prompt's identifier" />
            </div>
          </>
        }
        actions={<PromptActions prompt={prompt} />}
      />
      <nav className={tabs.tabs} aria-label="Areas of the prompt">
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
      </nav>
      <Outlet />
    </>
  );
}
