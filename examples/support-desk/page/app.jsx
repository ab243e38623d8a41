import { VestraSession } from '@vestra/react';
import { useState } from 'react';
import { createRoot } from 'react-dom/client';

async function getSession() {
  const response = await fetch('/agent-session', { method: 'POST' });
  if (!response.ok) throw new Error('The session could not be opened.');
  return response.json();
}

function Help() {
  const [unread, setUnread] = useState(0);
  return (
    <>
      <h1>Help {unread > 0 && <output>({unread} new)</output>}</h1>
      <VestraSession getSession={getSession} heading="Support desk" onUnread={({ count }) => setUnread(count)} />
    </>
  );
}

createRoot(document.getElementById('root')).render(<Help />);
