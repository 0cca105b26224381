-- The rows that a wallet send leaves, by hand: quote, order with its signed bytes, three notices and the history.

-- commit 1
insert into paystateQuotes (id, version, accountId, mode, inputMint, outputMint, inputAmount, outputAmount, minOutputAmount, feeMint, networkFee,
  routingFee, rent, pricedAccounts, slippageBps, priceImpact, sender, senderAllowOffCurve, recipients, createdAt, expiresAt)
values ('quote_' || @id, 1, 'acct_019b76daa8004eaf932c8c5848bafc73', 'wallet', '4k54WPEGae33GTzScav4f48towzwpYJ5Bnf4qkQHVMbN', '4k54WPEGae33GTzScav4f48towzwpYJ5Bnf4qkQHVMbN', '1500000', '1500000', '1500000', '4k54WPEGae33GTzScav4f48towzwpYJ5Bnf4qkQHVMbN', '5091',
  '0', '0', 0, 100, '0', '4k54WPEGae33GTzScav4f48towzwpYJ5Bnf4qkQHVMbN', 0, '[{"address":"4k54WPEGae33GTzScav4f48towzwpYJ5Bnf4qkQHVMbN","amount":{"$bigint":"1500000"}}]', @at, @at + 30000);

-- commit 2
update paystateQuotes set version = 2, usedBy = 'tx_' || @id where id = 'quote_' || @id and version = 1;
insert into paystateTransactions (id, accountId, quoteId, type, mode, sender, senderAllowOffCurve, inputMint, inputAmount, outputMint, outputAmount, feeMint, requestHash, status, signature, landedAfterCancel, createdAt)
values ('tx_' || @id, 'acct_019b76daa8004eaf932c8c5848bafc73', 'quote_' || @id, 'send', 'wallet', '4k54WPEGae33GTzScav4f48towzwpYJ5Bnf4qkQHVMbN', 0, '4k54WPEGae33GTzScav4f48towzwpYJ5Bnf4qkQHVMbN', '1500000', '4k54WPEGae33GTzScav4f48towzwpYJ5Bnf4qkQHVMbN', '1500000', '4k54WPEGae33GTzScav4f48towzwpYJ5Bnf4qkQHVMbN', @id || '000000000000000000000000000000000000000000000000', 'pending', @id || '555555555555555555555555555555555555555555555555555555555555555555555555', 0, @at);
insert into paystateRecipients (id, transactionId, accountId, createdAt, "index", address, allowOffCurve, amount, status)
values ('tx_' || @id || ':0', 'tx_' || @id, 'acct_019b76daa8004eaf932c8c5848bafc73', @at, 0, '4k54WPEGae33GTzScav4f48towzwpYJ5Bnf4qkQHVMbN', 0, '1500000', 'unpaid');
insert into paystateAttempts (id, messageHash, transactionId, bytes, blockhash, lastValidBlockHeight, firstSlot, reference, createdAt)
values (@id || '555555555555555555555555555555555555555555555555555555555555555555555555', @id || '000000000000000000000000000000000000000000000000', 'tx_' || @id, zeroblob(470), '4k54WPEGae33GTzScav4f48towzwpYJ5Bnf4qkQHVMbN', 1086, 1036, '4k54WPEGae33GTzScav4f48towzwpYJ5Bnf4qkQHVMbN', @at);
insert into paystateVolumes (id, scope, at, amount) values ('in' || @id, 'acct_019b76daa8004eaf932c8c5848bafc73' || ' in', @at, '1500000');
insert into paystateVolumes (id, scope, at, amount) values ('out' || @id, 'acct_019b76daa8004eaf932c8c5848bafc73' || ' out', @at, '1500000');
insert into paystateInstances (id, workflow, hash, version, stamp, life, status, createdAt, updatedAt, snapshot)
values ('tx_' || @id, 'wallet-transfer@1', '0123456789abcdef', 1, @id || '.1', @id || '.1', 'active', @at, @at,
  '{"value":"accepted","context":{"signature":"' || @id || '555555555555555555555555555555555555555555555555555555555555555555555555","broadcastDelayMs":0,"reservations":[],"reason":null,"landedSignature":null},"status":"active"}');
insert into paystateHistory (instance, version, at, event, value, cause, stamp)
values ('tx_' || @id, 1, @at, '{"type":"STEP","signature":"' || @id || '555555555555555555555555555555555555555555555555555555555555555555555555' || '"}', '"accepted"', 'start', @id || '.1');
update paystateInstances set version = 2, stamp = @id || '.2', status = 'active', updatedAt = @at,
  snapshot = '{"value":"broadcasting","context":{"signature":"' || @id || '555555555555555555555555555555555555555555555555555555555555555555555555","broadcastDelayMs":0,"reservations":[],"reason":null,"landedSignature":null},"status":"active"}'
where id = 'tx_' || @id and stamp = @id || '.1';
insert into paystateHistory (instance, version, at, event, value, cause, stamp)
values ('tx_' || @id, 2, @at, '{"type":"STEP","signature":"' || @id || '555555555555555555555555555555555555555555555555555555555555555555555555' || '"}', '"broadcasting"', 'watch landing', @id || '.2');
insert into paystateNotices (id, transactionId, event, status, signature, body, createdAt)
values ('evt_pending_' || @id, 'tx_' || @id, 'transaction.pending', 'pending', @id || '555555555555555555555555555555555555555555555555555555555555555555555555', 'a body 4k54WPEGae33GTzScav4f48towzwpYJ5Bnf4qkQHVMbN pending 1.5', @at);
insert into paystateAnnouncements (id, accountId, at) values ('evt_pending_' || @id, 'acct_019b76daa8004eaf932c8c5848bafc73', @at);
insert into paystateTasks (id, instance, workflow, kind, name, payload, dueAt, visibleAt, holder, token, crashes, counted, failures, priority)
values (@id || '.2:0', 'tx_' || @id, 'wallet-transfer@1', 'effect', 'broadcast', '{}', @at, @at + 15000, '0123456789abcdef', 1, 0, 0, 0, 0);
insert into paystateWatches (id, kind, key, instance, life, share)
values ('landing/tx_' || @id, 'landing', @id || '555555555555555555555555555555555555555555555555555555555555555555555555', 'tx_' || @id, @id || '.1', 'landing/0');

-- commit 3
delete from paystateTasks where id = @id || '.2:0' and token = 1;

-- commit 4
update paystateInstances set version = 3, stamp = @id || '.3', status = 'active', updatedAt = @at,
  snapshot = '{"value":"confirmed","context":{"signature":"' || @id || '555555555555555555555555555555555555555555555555555555555555555555555555","broadcastDelayMs":0,"reservations":[],"reason":null,"landedSignature":null},"status":"active"}'
where id = 'tx_' || @id and stamp = @id || '.2';
insert into paystateHistory (instance, version, at, event, value, cause, stamp)
values ('tx_' || @id, 3, @at, '{"type":"STEP","signature":"' || @id || '555555555555555555555555555555555555555555555555555555555555555555555555' || '"}', '"confirmed"', 'watch landing', @id || '.3');
insert into paystateNotices (id, transactionId, event, status, signature, body, createdAt)
values ('evt_confirmed_' || @id, 'tx_' || @id, 'transaction.confirmed', 'confirmed', @id || '555555555555555555555555555555555555555555555555555555555555555555555555', 'a body 4k54WPEGae33GTzScav4f48towzwpYJ5Bnf4qkQHVMbN confirmed 1.5', @at);
insert into paystateAnnouncements (id, accountId, at) values ('evt_confirmed_' || @id, 'acct_019b76daa8004eaf932c8c5848bafc73', @at);
update paystateTransactions set status = 'confirmed' where id = 'tx_' || @id;

-- commit 5
update paystateInstances set version = 4, stamp = @id || '.4', status = 'done', updatedAt = @at,
  snapshot = '{"value":"completed","context":{"signature":"' || @id || '555555555555555555555555555555555555555555555555555555555555555555555555","broadcastDelayMs":0,"reservations":[],"reason":null,"landedSignature":null},"status":"done"}'
where id = 'tx_' || @id and stamp = @id || '.3';
insert into paystateHistory (instance, version, at, event, value, cause, stamp)
values ('tx_' || @id, 4, @at, '{"type":"STEP","signature":"' || @id || '555555555555555555555555555555555555555555555555555555555555555555555555' || '"}', '"completed"', 'watch landing', @id || '.4');
insert into paystateNotices (id, transactionId, event, status, signature, body, createdAt)
values ('evt_completed_' || @id, 'tx_' || @id, 'transaction.completed', 'completed', @id || '555555555555555555555555555555555555555555555555555555555555555555555555', 'a body 4k54WPEGae33GTzScav4f48towzwpYJ5Bnf4qkQHVMbN completed 1.5', @at);
insert into paystateAnnouncements (id, accountId, at) values ('evt_completed_' || @id, 'acct_019b76daa8004eaf932c8c5848bafc73', @at);
update paystateTransactions set status = 'completed', finalAt = @at where id = 'tx_' || @id;
delete from paystateWatches where id = 'landing/tx_' || @id;
