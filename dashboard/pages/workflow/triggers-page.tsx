import { getRouteApi } from '@tanstack/react-router';
import { Schedules } from './triggers/schedules.tsx';
import { Webhooks } from './triggers/webhooks.tsx';

const route = getRouteApi('/app/workflows/$workflowId/triggers');

/** Schedules and webhooks that start the workflow. */
export function TriggersPage() {
  const { workflowId } = route.useParams();
  return (
    <div className="areas">
      <Schedules workflowId={workflowId} />
      <Webhooks workflowId={workflowId} />
    </div>
  );
}
