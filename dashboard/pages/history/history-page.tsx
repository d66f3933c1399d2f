import { PageHeader } from '../../components/layout/page-header.tsx';
import { History } from './history.tsx';
import { ViewsMenu } from './views-menu.tsx';

export function HistoryPage() {
  return (
    <>
      <PageHeader title="Executions" actions={<ViewsMenu />} />
      <History />
    </>
  );
}
