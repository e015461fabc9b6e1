// What a link inside the page leads to is opened where it stands behind a line.
{
  const open = hash => {
    const details = hash.length > 1 && document.getElementById(hash.slice(1))?.closest('details');
    if (!details) return;
    details.open = true;
    details.scrollIntoView();
    details.querySelector('summary').focus();
  };
  addEventListener('hashchange', () => open(location.hash));
  for (const link of document.querySelectorAll('a[href^="#"]')) link.addEventListener('click', () => open(link.hash));
  open(location.hash);
}
