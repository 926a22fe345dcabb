"""Frames that command a match, as the commands they stand for."""

from typing import assert_never

from waystation.rules.v1 import rules_pb2

from gateway.live import frames
from gateway.matches import Command


def command_of(order: frames.Order) -> Command:
    match order:
        case frames.MoveFrame(move=move):
            return rules_pb2.SubmitMove(move=bytes(move))
        case frames.ResignFrame():
            return rules_pb2.Resign()
        case frames.OfferDrawFrame():
            return rules_pb2.OfferDraw()
        case frames.AnswerDrawFrame(offer=offer, accept=accept):
            return rules_pb2.AnswerDraw(offer=offer, accept=accept)
        case frames.RequestTakebackFrame():
            return rules_pb2.RequestTakeback()
        case frames.AnswerTakebackFrame(request=request, accept=accept):
            return rules_pb2.AnswerTakeback(request=request, accept=accept)
        case _:
            assert_never(order)
